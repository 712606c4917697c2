"""One question and one answer in each row, in columns that the config names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

import attrs

from automodel_core.adapters.tokenizer import load_tokenizer
from automodel_core.data.column_names import columns_for
from automodel_core.data.columns import optional_text_of, text_of, value_of
from automodel_core.data.records import Row
from automodel_core.data.row_source import RowSource
from automodel_core.diagnostics import Diagnostic, did_you_mean
from automodel_core.errors import InputError
from automodel_llm.data.chat.conversation import Conversation
from automodel_llm.data.chat.fitting import Piece, fit_conversation
from automodel_llm.data.chat.template import open_template
from automodel_llm.data.chat_dataset import no_chat_template
from automodel_llm.data.encoded import Encoded
from automodel_llm.data.encoded_dataset import EncodedDataset, Samples
from automodel_llm.data.prompt_answer import encode_prompt_and_answer
from automodel_llm.data.prompt_format import PromptFormat
from automodel_llm.data.reasons import NO_ANSWER, NO_ROOM

COLUMNS: Final[Mapping[str, Sequence[str]]] = {
    "question": ("question", "prompt", "instruction", "query"),
    "answer": ("answer", "output", "response", "completion"),
    "context": ("context", "input"),
    "system": ("system",),
}
"""What a column is called where the config does not say, the likeliest first."""
_OPTIONAL: Final = ("context", "system")


@attrs.frozen
class Instruction:
    """What a row says, empty where it says nothing."""

    question: str
    answer: str
    context: str
    system: str


class InstructionDataset(EncodedDataset):
    """Questions and answers from columns; the answer and the token that ends it are learned.

    ``column_mapping`` says which column is the ``question`` and which the ``answer``, and, where there is one, the
    ``context`` and the ``system`` message; what it does not say goes by the names in :data:`COLUMNS`, and null leaves
    it out. With a chat template (``use_chat_template: auto`` takes the tokenizer's when it has one) a row is a
    conversation of one exchange; without one it is the prompt, the answer and the end token. ``prompt_format`` writes
    the prompt from ``{context}`` and ``{question}``.
    """

    def __init__(
        self,
        path: str | Sequence[str],
        tokenizer_name_or_path: str,
        column_mapping: Mapping[str, str | None] | None = None,
        split: str = "train",
        max_seq_length: int = 2048,
        use_chat_template: bool | Literal["auto"] = "auto",
        chat_template: str | None = None,
        prompt_format: str | None = None,
        validation_fraction: float | None = None,
        split_seed: int = 0,
        limit: int | None = None,
        cache: bool = True,
    ) -> None:
        self.mapping = roles_of({} if column_mapping is None else column_mapping)
        self.prompt_format = PromptFormat.checked(prompt_format, with_context=self.mapping.get("context") is not None)
        tokenizer = load_tokenizer(tokenizer_name_or_path)
        template = open_template(tokenizer, chat_template)
        if use_chat_template not in (True, False, "auto"):
            message = f"`use_chat_template` must be `auto`, `true` or `false`, it is `{use_chat_template}`"
            raise InputError(Diagnostic("AM306", message))
        if use_chat_template is True and template is None:
            raise InputError(no_chat_template(tokenizer_name_or_path))
        self.template = template if use_chat_template else None
        rows = RowSource(path, split, validation_fraction, split_seed, limit).open()
        super().__init__(rows, tokenizer, max_seq_length, cache=cache)

    def settings(self) -> dict[str, Any]:
        template = None if self.template is None else {"own": self.template.own}
        return {"columns": {**COLUMNS, **self.mapping}, "template": template, "prompt_format": self.prompt_format.text}

    def encode_row(self, row: Row) -> Samples:
        columns = columns_for(row, self.mapping, COLUMNS, _OPTIONAL)
        value_of(row, columns["answer"])  # a column that is not there is an error, an empty one a row to leave out
        instruction = Instruction(
            question=text_of(row, columns["question"]),
            answer=optional_text_of(row, columns["answer"]),
            context=optional_text_of(row, columns.get("context")),
            system=optional_text_of(row, columns.get("system")),
        )
        if not instruction.answer.strip():
            return NO_ANSWER
        samples = self._plain(instruction) if self.template is None else self._chat(instruction, row.place)
        return samples or NO_ROOM

    def _plain(self, instruction: Instruction) -> list[Encoded]:
        prompt = self.prompt_format.fill(instruction.question, instruction.context)
        before = f"{instruction.system}\n\n{prompt.before}" if instruction.system else prompt.before
        after = prompt.after if self.prompt_format.text is not None else f"{prompt.after}\n"
        joint = "" if (before + prompt.context + after)[-1:].isspace() else " "
        answer = joint + instruction.answer
        return [encode_prompt_and_answer(self.tokenizer, before, prompt.context, after, answer, self.max_seq_length)]

    def _chat(self, instruction: Instruction, place: str) -> list[Encoded]:
        assert self.template is not None

        def conversation(texts: Sequence[str]) -> Conversation:
            context, question = texts
            prompt = self.prompt_format.fill(question, context)
            messages = [{"role": "system", "content": instruction.system}] if instruction.system else []
            messages.append({"role": "user", "content": prompt.text})
            messages.append({"role": "assistant", "content": instruction.answer})
            return Conversation(place, tuple(messages), (len(messages) - 1,))

        pieces = [Piece(instruction.context, "end"), Piece(instruction.question)]
        whole = conversation([piece.text for piece in pieces])
        return fit_conversation(self.template, whole, self.max_seq_length, pieces, conversation)


def roles_of(mapping: Mapping[str, str | None]) -> dict[str, str | None]:
    """Return ``column_mapping`` with our name for each role: ``prompt`` is the ``question``.

    Raises:
        InputError: AM311 for a name that is not one of ours, or two names for the same.
    """
    found: dict[str, str | None] = {}
    for name, column in mapping.items():
        role = next((role for role, names in COLUMNS.items() if name in names), None)
        if role is None:
            helps = (*did_you_mean(name, COLUMNS), "it maps " + ", ".join(f"`{r}`" for r in COLUMNS) + " to columns")
            raise InputError(Diagnostic("AM311", f"`column_mapping` has `{name}`, which is nothing known", helps=helps))
        if role in found:
            raise InputError(Diagnostic("AM311", f"`column_mapping` says twice which column is the `{role}`"))
        found[role] = None if column is None else str(column)
    return found
