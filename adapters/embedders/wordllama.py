"""The static token embeddings that the package wordllama carries: no server, no download, no code of that package.

A vector is the sum of its tokens' weights, which are float16: multiples of 2⁻²⁴. In float64 such sums are exact up to 2²⁵
tokens for weights below 16, as these are, so neither their order nor the machine changes them. Tokens are looked up text by text, without
the threads of the tokenizer, whose handlers would disturb processes that fork.
"""

from __future__ import annotations

import threading
import unicodedata
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from attrs import frozen

from groundkit.core.embedding import EmbeddingIdentity, EmbedFailed, EmbedProblem, Purpose
from groundkit.core.result import Failure, Result, Success

if TYPE_CHECKING:
    from collections.abc import Sequence

MODEL, DIMENSIONS = "l2_supercat_256", 256
#: Raised with every change of what is done to a text or its tokens.
RECIPE: Final = 1
_WEIGHTS, _TOKENIZER = f"weights/{MODEL}.safetensors", "tokenizers/l2_supercat_tokenizer_config.json"
_INSTALL = "pip install 'groundkit[dense]'"


@frozen(eq=False)
class _Model:
    weights: Any
    tokenizer: Any
    digest: str


class _Shared:
    """The model, loaded once in a process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._model: _Model | None = None

    def model(self) -> Result[_Model, EmbedFailed]:
        with self._lock:
            if self._model is None:
                loaded = _load()
                if isinstance(loaded, Failure):
                    return loaded
                self._model = loaded.unwrap()
            return Success(self._model)


_SHARED: Final = _Shared()


class WordllamaEmbedder:
    """256 dimensions, mostly English. Several threads may use one."""

    def identify(self) -> Result[EmbeddingIdentity, EmbedFailed]:
        model = _SHARED.model()
        if isinstance(model, Failure):
            return model
        return Success(EmbeddingIdentity("wordllama", MODEL, DIMENSIONS, model.unwrap().digest))

    def embed(self, texts: Sequence[str], purpose: Purpose) -> Result[tuple[Sequence[float] | None, ...], EmbedFailed]:
        model = _SHARED.model()
        if isinstance(model, Failure):
            return model
        return Success(tuple(_vector(model.unwrap(), text) for text in texts))

    def close(self) -> None:
        """There is nothing to end."""


def folded(text: str) -> str:
    """As the model reads it: it knows few words in upper case. Half a surrogate pair is a question mark."""
    compatible = unicodedata.normalize("NFKC", text).casefold()
    return unicodedata.normalize("NFKC", compatible).encode("utf-8", "replace").decode("utf-8")


def _vector(model: _Model, text: str) -> Sequence[float] | None:
    read = folded(text)
    tokens = model.tokenizer.encode(read, add_special_tokens=False).ids if read.strip() else []
    if not tokens:
        return None
    summed: list[float] = model.weights[tokens].sum(axis=0, dtype="float64").tolist()
    return summed if any(summed) else None


def _load() -> Result[_Model, EmbedFailed]:
    # Found without being imported: the package loads much, and its own loader asks the network.
    spec = find_spec("wordllama")
    if spec is None or spec.origin is None:
        return _no(EmbedProblem.MISSING, f"the embedder wordllama is not installed: {_INSTALL}")
    try:
        from safetensors.numpy import load
        from tokenizers import Tokenizer
    except ImportError as error:
        return _no(EmbedProblem.MISSING, f"the embedder wordllama needs {error.name}: {_INSTALL}")
    try:
        weights, tokenizer = ((Path(spec.origin).parent / name).read_bytes() for name in (_WEIGHTS, _TOKENIZER))
        return _made(load(weights), Tokenizer.from_str(tokenizer.decode("utf-8")), _digest(weights, tokenizer))
    except OSError as error:
        return _no(EmbedProblem.MISSING, f"the files of wordllama cannot be read ({error.strerror}): {_INSTALL}")
    except Exception as error:  # noqa: BLE001 - both libraries raise classes of their own, straight below Exception
        return _no(EmbedProblem.MISSING, f"the files of wordllama are damaged ({type(error).__name__}): {_INSTALL}")


def _made(tensors: dict[str, Any], tokenizer: Any, digest: str) -> Result[_Model, EmbedFailed]:
    weights = tensors.get("embedding.weight")
    if weights is None or weights.shape != (tokenizer.get_vocab_size(), DIMENSIONS) or str(weights.dtype) != "float16":
        return _no(EmbedProblem.MISSING, f"the weights of wordllama are others than these of {MODEL}: {_INSTALL}")
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = True  # `<s>` in a text is three characters
    return Success(_Model(weights, tokenizer, digest))


def _digest(weights: bytes, tokenizer: bytes) -> str:
    parts = (sha256(weights).digest(), sha256(tokenizer).digest(), b"recipe %d" % RECIPE)
    return sha256(b"".join(parts)).hexdigest()


def _no(problem: EmbedProblem, detail: str) -> Failure[EmbedFailed]:
    return Failure(EmbedFailed(problem, detail))
