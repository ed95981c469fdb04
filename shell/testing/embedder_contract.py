"""What every `Embedder` promises. Subclass, say how one is made, and run it with pytest."""

from collections.abc import Iterator, Sequence
from contextlib import closing

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from groundkit.core.embedding import MOST_DIMENSIONS, Purpose, cosine
from groundkit.core.retrieval_ports import Embedder
from groundkit.embedding import vectors_of
from groundkit.testing.strategies import texts

_shared = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.differing_executors], max_examples=25
)
_BATCHES = st.lists(texts(), max_size=6)


def vectors(embedder: Embedder, given: Sequence[str], purpose: Purpose = Purpose.DOCUMENT) -> tuple[bytes, ...]:
    """As they are stored."""
    return vectors_of(embedder, embedder.identify().unwrap(), given, purpose).unwrap()


class EmbedderContract:
    """`make` gives an embedder that nobody else uses."""

    def make(self) -> Embedder:
        raise NotImplementedError

    @pytest.fixture
    def embedder(self) -> Iterator[Embedder]:
        with closing(self.make()) as made:
            yield made

    def test_its_identity_is_whole_and_stays(self, embedder: Embedder) -> None:
        identity = embedder.identify().unwrap()
        assert identity.provider and 1 <= identity.dimensions <= MOST_DIMENSIONS
        embedder.embed(("tide",), Purpose.QUERY)
        assert embedder.identify().unwrap() == identity
        with closing(self.make()) as other:
            assert other.identify().unwrap() == identity

    @_shared
    @given(batch=_BATCHES)
    def test_there_is_one_answer_for_each_text_in_order(self, embedder: Embedder, batch: list[str]) -> None:
        together = embedder.embed(batch, Purpose.DOCUMENT).unwrap()
        assert len(together) == len(batch)
        assert vectors(embedder, batch) == tuple(vectors(embedder, [each])[0] for each in batch)
        assert vectors(embedder, batch[::-1]) == vectors(embedder, batch)[::-1]

    @_shared
    @given(batch=_BATCHES)
    def test_every_vector_is_as_long_as_the_identity_says(self, embedder: Embedder, batch: list[str]) -> None:
        dimensions = embedder.identify().unwrap().dimensions
        for text, vector in zip(batch, embedder.embed(batch, Purpose.DOCUMENT).unwrap(), strict=True):
            assert len(vector) == dimensions if vector is not None else not text.strip()

    def test_only_what_holds_nothing_has_no_vector(self, embedder: Embedder) -> None:
        found = embedder.embed(("", "tide", " \n\t", "ferry"), Purpose.DOCUMENT).unwrap()
        assert [each is None for each in found] == [True, False, True, False]
        assert embedder.embed((), Purpose.DOCUMENT).unwrap() == ()

    def test_another_instance_gives_the_same_vectors(self, embedder: Embedder) -> None:
        asked = ("tide and ferry", "harbour", "日本", "e\u0301")
        with closing(self.make()) as other:
            assert vectors(embedder, asked) == vectors(other, asked)

    def test_a_text_is_nearer_to_its_like(self, embedder: Embedder) -> None:
        one, like, other = vectors(
            embedder, ("the tide of the sea", "the tide of the ocean", "quarterly tax statement")
        )
        assert cosine(one, like) > cosine(one, other)

    def test_it_may_be_closed_twice(self) -> None:
        made = self.make()
        made.embed(("tide",), Purpose.QUERY)
        made.close()
        made.close()
