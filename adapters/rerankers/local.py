"""Cross-encoders as ONNX files, run by fastembed on this machine. It would download by default: here only if that is allowed."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from groundkit.core.reranking import RerankFailed, RerankProblem
from groundkit.core.result import Failure, Result, Success

if TYPE_CHECKING:
    from collections.abc import Sequence

_BATCH = 16


class FastembedReranker:
    """`directory` holds the files of the model; without it, they lie in fastembed's cache (`FASTEMBED_CACHE_PATH`)."""

    def __init__(self, model: str, directory: str | None = None, allow_download: bool = False) -> None:
        self._model, self._directory, self._allow_download = model, directory, allow_download
        self._loaded: Any = None

    @property
    def identity(self) -> str:
        return f"fastembed:{self._model}"

    def scores(self, query: str, texts: Sequence[str]) -> Result[tuple[float, ...], RerankFailed]:
        """Loads the model at the first question."""
        loaded = self._load()
        if isinstance(loaded, Failure):
            return loaded
        try:
            return Success(tuple(map(float, loaded.unwrap().rerank(query, list(texts), batch_size=_BATCH))))
        except Exception as error:  # noqa: BLE001 - onnxruntime's and the tokenizer's own classes
            return _no(RerankProblem.ANSWER, f"{self.identity} failed ({type(error).__name__})")

    def close(self) -> None:
        self._loaded = None

    def _load(self) -> Result[Any, RerankFailed]:
        if self._loaded is not None:
            return Success(self._loaded)
        try:
            encoders = import_module("fastembed.rerank.cross_encoder").TextCrossEncoder
            logger = import_module("loguru").logger
        except ImportError:
            return _no(RerankProblem.MISSING, 'fastembed is not installed: pip install "groundkit[rerank]"')
        logger.disable("fastembed")
        if self._model.lower() not in {each["model"].lower() for each in encoders.list_supported_models()}:
            detail = f"fastembed {version('fastembed')} knows no reranker {self._model!r}"
            return _no(RerankProblem.UNKNOWN, detail)
        try:
            self._loaded = encoders(self._model, **self._where())
        except Exception as error:  # noqa: BLE001 - ValueError for what is not there, its downloader's, onnxruntime's
            return self._not_loaded(error)
        return Success(self._loaded)

    def _where(self) -> dict[str, Any]:
        if self._directory is not None:
            return {"specific_model_path": self._directory, "local_files_only": True}
        return {"local_files_only": not self._allow_download}

    def _not_loaded(self, error: Exception) -> Failure[RerankFailed]:
        told = f"{self.identity} cannot be loaded ({type(error).__name__})"
        if self._directory is not None:
            return _no(RerankProblem.MISSING, f"{told} from the directory that GK_RERANKER_PATH names")
        if self._allow_download:
            return _no(RerankProblem.UNREACHABLE, f"{told}, nor downloaded")
        advice = (
            "allow its download once with GK_RERANKER_DOWNLOAD=1, or name a directory that holds it in GK_RERANKER_PATH"
        )
        return _no(RerankProblem.MISSING, f"{told}, as it is not on this machine: {advice}")


def _no(problem: RerankProblem, detail: str) -> Failure[RerankFailed]:
    return Failure(RerankFailed(problem, detail))
