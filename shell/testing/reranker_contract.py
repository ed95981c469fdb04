"""What every `Reranker` promises. Subclass, say how one is made, and run it with pytest."""

import math

import pytest

from groundkit.core.retrieval_ports import Reranker

_TEXTS = (
    "the tide rises twice a day",
    "",
    "bread is baked at night",
    "潮は一日に二度満ちる",
    "a\x00b \U0001f30a",
    "the tide " * 300,
)


class RerankerContract:
    """`make` gives a reranker anew on each call."""

    def make(self) -> Reranker:
        raise NotImplementedError

    def test_every_text_gets_a_finite_number(self) -> None:
        scores = self.make().scores("when does the tide rise", _TEXTS).unwrap()
        assert len(scores) == len(_TEXTS)
        assert all(map(math.isfinite, scores))

    def test_no_text_gets_none(self) -> None:
        assert self.make().scores("tide", ()).unwrap() == ()

    def test_the_same_question_has_the_same_answer(self) -> None:
        reranker = self.make()
        assert reranker.scores("tide", _TEXTS) == reranker.scores("tide", _TEXTS)

    def test_scores_come_in_the_order_of_the_texts(self) -> None:
        reranker = self.make()
        forth = reranker.scores("the tide", _TEXTS).unwrap()
        back = reranker.scores("the tide", _TEXTS[::-1]).unwrap()
        assert forth == pytest.approx(back[::-1], abs=1e-4)

    def test_a_text_alone_has_the_score_it_has_among_others(self) -> None:
        reranker = self.make()
        together = reranker.scores("the tide", _TEXTS).unwrap()
        alone = [reranker.scores("the tide", [text]).unwrap()[0] for text in _TEXTS]
        assert alone == pytest.approx(together, abs=1e-4)

    def test_many_texts_get_as_many_scores(self) -> None:
        texts = [f"passage {number}" for number in range(70)]
        assert len(self.make().scores("passage 3", texts).unwrap()) == 70

    def test_it_has_a_name_and_closes_twice(self) -> None:
        reranker = self.make()
        assert reranker.identity.strip() == reranker.identity != ""
        reranker.close()
        reranker.close()
