"""What the server that processes are forked from imports: all that stages and samplers need; nothing here computes."""

from training.logs import quieten

quieten()  # before bitsandbytes is imported

import peft  # noqa: E402
import transformers  # noqa: E402
from transformers.models.auto import modeling_auto, tokenization_auto  # noqa: E402
from transformers.models.llama import modeling_llama  # noqa: E402

from training.finetuning import trainable, trainer  # noqa: E402
from training.rounds import processes, rounds  # noqa: E402

PACKAGES = (peft, transformers, modeling_auto, tokenization_auto, modeling_llama)
MODULES = (processes, rounds, trainable, trainer)
