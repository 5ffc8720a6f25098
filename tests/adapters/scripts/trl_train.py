"""One step of TRL's GRPOTrainer on the CPU, with a tiny model that calls the tools of a plan.

Half of the rollouts win, half give up at once: their rewards must say so.
"""

import json
import sys
from importlib import resources

import torch
from datasets import Dataset
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM
from trl import GRPOConfig, GRPOTrainer

from agentquest.adapters.trl_env import dataset_rows, environment_factory

END = "<|im_end|>"
TAGS = ("think", "tool_call", "tool_response")


def tokenizer():
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    made = Tokenizer(models.BPE({letter: i for i, letter in enumerate(letters)}, []))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    special = ["<|endoftext|>", "<|im_start|>", END]
    made.add_special_tokens([AddedToken(word, special=True) for word in special])
    made.add_tokens([f"<{slash}{tag}>" for tag in TAGS for slash in ("", "/")])
    wrapped = PreTrainedTokenizerFast(
        tokenizer_object=made, eos_token=END, pad_token="<|endoftext|>"
    )
    template = resources.files("trl") / "chat_templates" / "qwen3.jinja"
    wrapped.chat_template = template.read_text()
    return wrapped


class Player(Qwen3ForCausalLM):
    """Says the next command of the plan, whatever it was trained to say."""

    def generate(self, input_ids=None, **_):
        rows = []
        for number, ids in enumerate(input_ids):
            asked = words.decode(ids).partition("<|im_start|>user")[2]
            answered = asked.count("<tool_response>")
            call = {"name": "act", "arguments": {"command": (plan + ["look"] * 9)[answered]}}
            said = f"<tool_call>\n{json.dumps(call)}\n</tool_call>{END}"
            if answered >= len(plan) or (answered == 0 and number % 2):
                said = f"I stop.{END}"
            rows.append([*ids.tolist(), *words(said)["input_ids"]])
        longest = max(map(len, rows))
        padded = [row + [words.pad_token_id] * (longest - len(row)) for row in rows]
        return torch.tensor(padded)


words = tokenizer()
environment = environment_factory("alfworld", data_path="builtin")
row = dataset_rows("alfworld", data_path="builtin")[0]
probe = environment()
probe.reset(**row)
plan = probe._player.session.plan()
model = Player(
    Qwen3Config(
        vocab_size=len(words), hidden_size=16, intermediate_size=16, num_hidden_layers=1,
        num_attention_heads=2, num_key_value_heads=1, head_dim=8,
        eos_token_id=words.eos_token_id, pad_token_id=words.pad_token_id,
    )
)  # fmt: skip
trainer = GRPOTrainer(
    model=model,
    processing_class=words,
    args=GRPOConfig(
        output_dir=sys.argv[1], per_device_train_batch_size=2, num_generations=2, max_steps=1,
        max_completion_length=4000, use_cpu=True, report_to=[], save_strategy="no",
        logging_steps=1, disable_tqdm=True,
    ),
    train_dataset=Dataset.from_list([row]),
    environment_factory=environment,
)  # fmt: skip
trainer.train()
logged = trainer.state.log_history[0]
tasks = [played._player.session.task.id for played in trainer.environments]
rewards = [played.get_reward() for played in trainer.environments]
tools = sorted(tool.__name__ for tool in trainer.tools)
mean = logged["rewards/ALFWorldEnvironment/mean"]
print(json.dumps({"mean": mean, "rewards": rewards, "tools": tools, "tasks": len(set(tasks))}))
