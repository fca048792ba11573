"""Chat templates that do what the real ones do, in words of our own.

Switches for thinking, branches for tools, no system role, contents that are trimmed, turns that end in another token
than the text.
"""

CHATML = """{%- if messages[0].role == 'system' %}{% set first = messages[0].content %}{% set rest = messages[1:] %}
{%- else %}{% set first = DEFAULT %}{% set rest = messages %}{%- endif %}
{%- if tools %}{% set first = first ~ '\\n\\nTools: ' ~ tools | tojson %}{% endif %}
{%- if first %}{{- '<|im_start|>system\\n' ~ first ~ '<|im_end|>\\n' }}{% endif %}
{%- for turn in rest %}
{%- if turn.role == 'assistant' and '</think>' in turn.content %}
{%- set said = turn.content.split('</think>')[-1].lstrip('\\n') %}
{%- else %}{% set said = turn.content %}{%- endif %}
{{- '<|im_start|>' ~ turn.role ~ '\\n' ~ said ~ '<|im_end|>\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}THINKING{%- endif %}"""
SWITCH = (
    """{%- if enable_thinking is defined and not enable_thinking %}{{- '<think>\\n\\n</think>\\n\\n' }}{%- endif %}"""
)
HEADERS = """{{- bos_token }}{%- for turn in messages %}
{{- '<|start_header_id|>' ~ turn.role ~ '<|end_header_id|>\\n\\n' ~ turn.content | trim ~ '<|eot_id|>' }}
{%- endfor %}
{%- if tools %}{{- raise_exception('tools stand in the first user turn') }}{%- endif %}
{%- if add_generation_prompt %}{{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}{%- endif %}"""
INSTRUCTIONS = """{%- if messages[0].role == 'system' %}{% set first = messages[0].content ~ '\\n\\n' %}
{%- set rest = messages[1:] %}
{%- else %}{% set first = '' %}{% set rest = messages %}{%- endif %}{{- bos_token }}
{%- for turn in rest %}
{%- if (turn.role == 'user') != (loop.index0 % 2 == 0) %}{{- raise_exception('roles must alternate') }}{%- endif %}
{%- if turn.role == 'user' %}{{- '[INST] ' ~ (first if loop.last else '') ~ turn.content ~ '[/INST]' }}
{%- else %}{{- ' ' ~ turn.content | trim ~ eos_token }}{%- endif %}
{%- endfor %}"""
NO_SYSTEM = """{{- bos_token }}
{%- if messages[0].role == 'system' %}{{- raise_exception('System role not supported') }}{%- endif %}
{%- for turn in messages %}
{%- if (turn.role == 'user') != (loop.index0 % 2 == 0) %}{{- raise_exception('roles must alternate') }}{%- endif %}
{%- set role = 'model' if turn.role == 'assistant' else turn.role %}
{{- '<start_of_turn>' ~ role ~ '\\n' ~ turn.content | trim ~ '<end_of_turn>\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<start_of_turn>model\\n' }}{%- endif %}"""
TAGS = """{%- for turn in messages %}{{- '<|' ~ turn.role ~ '|>\\n' ~ turn.content ~ '<|end|>\\n' }}{%- endfor %}
{%- if add_generation_prompt %}{{- '<|assistant|>\\n' }}{%- else %}{{- eos_token }}{%- endif %}"""
TOKEN_TURNS = """{{- bos_token }}
{%- for turn in messages %}
{%- set who = {'system': 'SYSTEM', 'user': 'USER', 'assistant': 'CHATBOT'}[turn.role] %}
{{- '<|START_OF_TURN_TOKEN|><|' ~ who ~ '_TOKEN|>' ~ turn.content | trim ~ '<|END_OF_TURN_TOKEN|>' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>' }}{%- endif %}"""
CHANNELS = """{{- '<|start|>system<|message|>You are a model.\\nReasoning: medium<|end|>' }}
{%- for turn in messages %}
{%- if turn.role == 'system' %}{{- '<|start|>developer<|message|># Instructions\\n\\n' ~ turn.content ~ '<|end|>' }}
{%- elif turn.role == 'user' %}{{- '<|start|>user<|message|>' ~ turn.content ~ '<|end|>' }}
{%- else %}{{- '<|start|>assistant<|channel|>final<|message|>' ~ turn.content }}
{{- '<|return|>' if loop.last else '<|end|>' }}{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|start|>assistant' }}{%- endif %}"""
PARTS = """{%- for turn in messages %}{{- '<|im_start|>' ~ turn.role ~ '\\n' }}
{%- if turn.content is string %}{{- turn.content }}{%- else %}
{%- for part in turn.content %}{%- if part.type == 'text' %}{{- part.text }}{%- endif %}{%- endfor %}{%- endif %}
{{- '<|im_end|>\\n' }}{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}"""


def chatml(*, thinks: bool) -> str:
    """Return Qwen's template, with a switch for thinking or with a system text of its own."""
    default = "''" if thinks else "'You are a helpful assistant.'"
    return CHATML.replace("DEFAULT", default).replace("THINKING", SWITCH if thinks else "")
