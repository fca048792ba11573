import pytest

from training.configuration.fine_tuning import TrainingConfig
from training.finetuning.examples import IGNORED, Collator, Example, checked
from training.finetuning.stage import _step_limit
from training.lessons.teaching import ExampleError

EOS = 9


def test_an_example_that_teaches_nothing_is_an_error():
    for completion in ((), (EOS,)):
        with pytest.raises(ExampleError, match="no token of it is supervised"):
            checked(Example.of("e", (1,), completion), eos_id=EOS, max_tokens=10)


def test_an_example_without_end_of_text_is_an_error():
    with pytest.raises(ExampleError, match="end-of-text token"):
        checked(Example.of("e", (1,), (2, 3)), eos_id=EOS, max_tokens=10)


def test_an_example_that_would_be_cut_is_an_error():
    with pytest.raises(ExampleError, match=r"exceed training\.max_tokens"):
        checked(Example.of("e", (1, 2), (3, EOS)), eos_id=EOS, max_tokens=3)


def test_the_loss_falls_on_the_completion_alone():
    batch = Collator(pad_id=0)([(Example.of("a", (1, 2), (3, EOS)),), (Example.of("b", (4,), (EOS,)),)])
    assert batch["input_ids"].tolist() == [[1, 2, 3, EOS], [4, EOS, 0, 0]]
    assert batch["labels"].tolist() == [[IGNORED, IGNORED, 3, EOS], [IGNORED, EOS, IGNORED, IGNORED]]
    assert batch["attention_mask"].tolist() == [[1, 1, 1, 1], [1, 1, 0, 0]]


@pytest.mark.parametrize(("num_examples", "limit"), [(3, -1), (36, -1), (40, 10), (41, 10)])
def test_a_step_limit_shortens_and_never_lengthens(num_examples, limit):
    config = TrainingConfig(epochs=1, global_batch_size=4, max_steps=10)
    assert _step_limit(config, num_examples, nproc=1) == limit
