"""Embedders that need no server: the laws of the port, and the same bytes in every process."""

import json
import os
import subprocess
import sys

import pytest

from groundkit.core.embedding import EmbedFailed, EmbedProblem, Purpose, cosine, on_grid
from groundkit.core.result import Success
from groundkit.core.retrieval_ports import Embedder
from groundkit.embedders import EndpointSettings, embedder, embedder_endpoint
from groundkit.embedding import vectors_of
from groundkit.requests import ModelEndpoint
from groundkit.testing.embedder_contract import EmbedderContract
from groundkit.testing.hash_embedder import HashEmbedder

TEXTS = ("The tide comes in twice a day.", "ferries", "<s> markup </s>", "日本語の文章", "ﬁsh AND Chips", "x" * 5000)

_ELSEWHERE = """
import json, sys
from groundkit.core.embedding import Purpose
from groundkit.embedders import EndpointSettings, embedder
from groundkit.embedding import vectors_of
made = embedder("wordllama", EndpointSettings(), {}).unwrap()
found = vectors_of(made, made.identify().unwrap(), json.loads(sys.argv[1]), Purpose.DOCUMENT).unwrap()
print(json.dumps([made.identify().unwrap().digest, [each.hex() for each in found]]))
"""


def wordllama() -> Embedder:
    return embedder("wordllama", EndpointSettings(), {}).unwrap()


class TestHash(EmbedderContract):
    def make(self) -> Embedder:
        return HashEmbedder(32)


class TestWordllama(EmbedderContract):
    def make(self) -> Embedder:
        return wordllama()


def vectors(texts: tuple[str, ...]) -> tuple[bytes, ...]:
    made = wordllama()
    found = vectors_of(made, made.identify().unwrap(), texts, Purpose.DOCUMENT)
    assert isinstance(found, Success)
    return found.unwrap()


@pytest.mark.parametrize("threads", ["1", "4"])
def test_another_process_gives_the_same_bytes_whatever_its_threads(threads: str) -> None:
    names = ("RAYON_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")
    environment = os.environ | dict.fromkeys(names, threads)
    shuffled = tuple(reversed(TEXTS))
    command = [sys.executable, "-c", _ELSEWHERE, json.dumps(shuffled)]
    said = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert said.stderr == ""
    digest, found = json.loads(said.stdout)
    assert digest == wordllama().identify().unwrap().digest
    assert tuple(bytes.fromhex(each) for each in reversed(found)) == vectors(TEXTS)


def test_case_and_compatibility_forms_do_not_count() -> None:
    assert len(set(vectors(("Fish and chips", "FISH AND CHIPS", "ﬁsh and chips")))) == 1


def test_markers_of_the_tokenizer_are_text() -> None:
    plain, marked = vectors(("markup", "<s> markup </s>"))
    assert cosine(plain, marked) < 0.99


def test_what_is_alike_is_nearer() -> None:
    cat, kitten, tax = vectors(("a cat on the sofa", "a kitten on the couch", "quarterly tax statement"))
    assert cosine(cat, kitten) > cosine(cat, tax)


def test_half_a_surrogate_pair_is_read() -> None:
    found = wordllama().embed(("\ud800 tide",), Purpose.QUERY).unwrap()[0]
    assert found is not None and isinstance(on_grid(found, 256), Success)


def test_a_model_goes_by_the_name_that_a_manifest_gives_it() -> None:
    named = wordllama().identify().unwrap()
    assert embedder(named.name, EndpointSettings(), {}).unwrap().identify().unwrap() == named


@pytest.mark.parametrize("name", ["nobody", "wordllama:other", "ollama", "ollama:", "openai: ", "hash:1", ""])
def test_unknown_names_are_refused_with_what_there_is(name: str) -> None:
    failed = embedder(name, EndpointSettings(), {}).failure()
    assert isinstance(failed, EmbedFailed) and failed.problem is EmbedProblem.UNKNOWN
    assert ":MODEL" in failed.detail


def test_ones_own_embedders_come_first() -> None:
    own = HashEmbedder(8)
    assert embedder("wordllama", EndpointSettings(), {"wordllama": lambda: own}).unwrap() is own


def test_what_is_given_counts_more_than_the_environment() -> None:
    environment = {"GK_EMBEDDER_URL": "https://one.example", "GK_EMBEDDER_LOCAL": "1", "GK_EMBEDDER_KEY": "sesame"}
    told = embedder_endpoint(None, environment)
    assert (told.url, told.allow_local, told.key) == ("https://one.example", True, "sesame")
    given = embedder_endpoint(ModelEndpoint("https://two.example", False), environment)
    assert (given.url, given.allow_local) == ("https://two.example", False)
    assert "sesame" not in repr(told)


@pytest.mark.parametrize("name", ["ollama:m", "openai:m"])
@pytest.mark.parametrize(
    "url", ["http://one.example", "https://me:sesame@one.example", "ftp://one.example", "https://"]
)
def test_endpoints_that_are_none_are_refused_without_being_quoted(name: str, url: str) -> None:
    failed = embedder(name, EndpointSettings(url), {}).failure()
    assert failed.problem is EmbedProblem.CONFIGURATION
    assert "sesame" not in failed.detail


def test_ollama_on_this_machine_has_to_be_allowed() -> None:
    assert embedder("ollama:m", EndpointSettings(), {}).failure().problem is EmbedProblem.CONFIGURATION
    assert isinstance(embedder("ollama:m", EndpointSettings(allow_local=True), {}), Success)
