"""A real model behind OpenAI's protocol: transformers writes, one reply at a time, and tells log-probabilities."""

import threading
from typing import Any

from tests.rehearsal.server import Answering, Sent, completion, sent


def real(folder: str) -> Answering:
    """Return what answers requests by the model of a folder; a prompt is echoed with its log-probabilities."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, DynamicCache

    torch.set_num_threads(1)
    tokenizer: Any = AutoTokenizer.from_pretrained(folder)
    model: Any = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    one_at_a_time = threading.Lock()
    before: list[Any] = [[], DynamicCache()]

    def answer(path: str, body: dict[str, Any]) -> Sent:
        if not path.endswith("completions"):
            return sent({"object": "list", "data": [{"id": folder, "object": "model"}]})
        chat = path.endswith("chat/completions")
        prompt = body["messages"] if chat else body["prompt"]
        if chat:
            prompt = tokenizer.apply_chat_template(prompt, add_generation_prompt=True, tokenize=False)
        ids = tokenizer(prompt, return_tensors="pt", add_special_tokens=not chat).input_ids
        with one_at_a_time, torch.inference_mode():
            if body.get("echo"):
                scores = model(ids).logits[0, :-1].log_softmax(-1)
                values = [None, *scores.gather(1, ids[0, 1:, None])[:, 0].tolist()]
                tokens = [tokenizer.decode(one) for one in ids[0].tolist()]
                told: dict[str, Any] = {"tokens": tokens, "token_logprobs": values}
                return sent(completion(prompt, "length", chat=False, usage=(len(tokens), 0), logprobs=told))
            torch.manual_seed(body.get("seed") or 0)
            heat = body.get("temperature", 1.0)
            how: dict[str, Any] = {"do_sample": heat > 0, **({"temperature": heat} if heat > 0 else {})}
            most = body.get("max_tokens") or body.get("max_completion_tokens") or 16
            # What begins like the last prompt is not read again.
            said, cache = before
            pairs = zip(said, ids[0].tolist(), strict=False)
            alike = next((at for at, (one, other) in enumerate(pairs) if one != other), min(len(said), ids.shape[1]))
            if (more := len(said) - min(alike, ids.shape[1] - 1)) > 0:
                cache.crop(-more)
            found = model.generate(
                ids, past_key_values=cache, max_new_tokens=most, return_dict_in_generate=True, output_logits=True,
                **how, attention_mask=torch.ones_like(ids), pad_token_id=tokenizer.eos_token_id, top_k=None, top_p=None,
            )  # fmt: skip
            before[0] = found.sequences[0, : cache.get_seq_length()].tolist()
        written = found.sequences[0, ids.shape[1] :].tolist()
        has_ended = written[-1:] == [tokenizer.eos_token_id]
        values = [step[0].log_softmax(-1)[one].item() for step, one in zip(found.logits, written, strict=True)]
        tokens = [tokenizer.decode(one) for one in written]
        text = tokenizer.decode(written, skip_special_tokens=True)
        for stop in body.get("stop") or ():
            text, has_ended = (text.split(stop)[0], True) if stop in text else (text, has_ended)
        told = (
            {"content": [{"token": token, "logprob": value} for token, value in zip(tokens, values, strict=True)]}
            if chat
            else {"tokens": tokens, "token_logprobs": values}
        )
        usage = (ids.shape[1], len(written))
        return sent(completion(text, "stop" if has_ended else "length", chat=chat, usage=usage, logprobs=told))

    return answer
