"""The typed sections of the core. A field's type, default and documentation stand here and nowhere else."""

from __future__ import annotations

from typing import Literal

import attrs

from automodel_core.config.options import (
    ABOVE_ZERO,
    BELOW_ONE,
    BYTE_SIZE,
    NOT_EMPTY,
    NOT_NEGATIVE,
    PORT,
    POSITIVE,
    SEED,
    SIGNALS,
    option,
)

ON_WHEN_PRESENT = frozenset({"peft"})
"""Sections whose presence switches something on, so that their defaults are not part of a config without them."""


@attrs.frozen
class StepScheduler:
    max_steps: int | None = option(None, "Optimizer steps. With `num_epochs`, whichever ends first.", POSITIVE)
    num_epochs: int | None = option(None, "Passes over the data. Without it and `max_steps`, one.", POSITIVE)
    grad_accumulation_steps: int | None = option(
        None, "Micro-batches of one optimizer step; null: as `global_batch_size` asks, or 1.", POSITIVE
    )
    global_batch_size: int | None = option(
        None, "Samples of one optimizer step over all ranks; null: what the other sizes make.", POSITIVE
    )
    val_check_interval: int | None = option(None, "Steps between validations; null: never.", POSITIVE)
    checkpoint_interval: int | None = option(None, "Steps between checkpoints; null: only after the last.", POSITIVE)
    log_interval: int = option(10, "Steps between lines on the console; the record on disk has all.", POSITIVE)
    preemption_signal: str | list[str] | None = option(  # noqa: RUF009
        ["SIGINT", "SIGTERM", "SIGHUP", "SIGUSR1"],
        "Signals on which the run saves after the step under way and ends; null: none.",
        SIGNALS,
    )


@attrs.frozen
class DistEnv:
    backend: str = option("auto", "Process-group backend; `auto` is nccl on GPUs and gloo on CPUs.", NOT_EMPTY)
    master_addr: str = option("localhost", "Host of rank 0.", NOT_EMPTY)
    master_port: int = option(29500, "Port of rank 0.", PORT)
    timeout_minutes: float = option(10.0, "How long a collective may take.", ABOVE_ZERO)


@attrs.frozen
class Rng:
    seed: int = option(42, "Seed of initialisation, data order and dropout.", SEED)


@attrs.frozen
class Compile:
    enabled: bool = option(False, "Compile the model's blocks.")
    backend: str = option("inductor", "Backend of `torch.compile`.", NOT_EMPTY)
    mode: str | None = option(None, "Mode of `torch.compile`.")
    fullgraph: bool = option(False, "Refuse graph breaks.")
    dynamic: bool | None = option(None, "Dynamic shapes; null: as torch decides.")


@attrs.frozen
class ClipGradNorm:
    max_norm: float | None = option(1.0, "Largest gradient norm; null: measure it and do not clip.", ABOVE_ZERO)


@attrs.frozen
class Distributed:
    strategy: Literal["fsdp2", "megatron_fsdp", "ddp"] = option("fsdp2", "How the model is spread over ranks.")
    dp_size: int | Literal["auto", "none"] | None = option(
        "auto", "Data-parallel ranks; `auto`, `none` and null: what the other sizes leave.", POSITIVE
    )
    tp_size: int = option(1, "Tensor-parallel ranks.", POSITIVE)
    pp_size: int = option(1, "Pipeline stages.", POSITIVE)
    cp_size: int = option(1, "Context-parallel ranks.", POSITIVE)
    ep_size: int = option(1, "Expert-parallel ranks.", POSITIVE)
    etp_size: int = option(1, "Tensor-parallel ranks of one expert.", POSITIVE)
    dp_replicate_size: int = option(1, "Groups of data-parallel ranks that each hold the whole model.", POSITIVE)
    sequence_parallel: bool | None = option(None, "Null: on whenever `tp_size` is more than 1.")
    replicate_kv: bool = option(False, "Let `tp_size` be a multiple of the key-value heads: ranks hold copies.")
    cp_comm_type: Literal["p2p", "a2a", "allgather", "a2a+p2p"] | None = option(
        None, "How context-parallel ranks exchange keys and values; null: as the attention chooses."
    )
    nvlink_domain_size: int = option(8, "Ranks that reach each other over NVLink: those of a node, or 72.", POSITIVE)


@attrs.frozen
class PackedSequence:
    enabled: bool = option(False, "Pack several samples into one sequence.")
    size: int | None = option(
        None, "Tokens of one pack; 0: no packing; null: `max_seq_length` of the data.", NOT_NEGATIVE
    )

    @property
    def packs(self) -> bool:
        """Whether sequences are packed: asked for, or given a size."""
        return self.enabled or bool(self.size)


@attrs.frozen
class Dataloader:
    batch_size: int = option(1, "Samples of one micro-batch on one rank.", POSITIVE)
    num_workers: int = option(0, "Processes that read data; 0: read in the training process.", NOT_NEGATIVE)
    pin_memory: bool = option(False, "Copy batches into page-locked memory.")
    shuffle: bool = option(True, "Draw a new order each epoch, from the seed.")


@attrs.frozen
class ValidationDataloader:
    batch_size: int | None = option(None, "Null: as `dataloader.batch_size`.", POSITIVE)
    num_workers: int | None = option(None, "Null: as `dataloader.num_workers`.", NOT_NEGATIVE)
    pin_memory: bool | None = option(None, "Null: as `dataloader.pin_memory`.")


@attrs.frozen
class RestoreFrom:
    path: str | None = option(None, "A checkpoint directory; null: start anew.", NOT_EMPTY)
    allow_changes: bool = option(False, "Go on although the config changes what the run learns.")


@attrs.frozen
class Peft:
    kind: Literal["lora"] = option("lora", "Kind of adapter.")
    rank: int = option(8, "Rank of the adapters.", POSITIVE)
    alpha: float = option(16.0, "Scale: the adapter's output is multiplied by alpha / rank.", ABOVE_ZERO)
    dropout: float = option(0.0, "Dropout before the adapter.", BELOW_ONE)
    target_modules: str | list[str] = option(  # noqa: RUF009
        "all-linear", "`all-linear`, a name, a pattern or a list of them.", NOT_EMPTY
    )
    exclude_modules: list[str] = option([], "Names or patterns of modules that get no adapter.")  # noqa: RUF009
    use_rslora: bool = option(False, "Scale by alpha / sqrt(rank).")


@attrs.frozen
class Freeze:
    patterns: list[str] = option([], "Patterns (`fnmatch`) of parameter names that are not trained.")  # noqa: RUF009
    trainable: list[str] = option([], "Patterns of names that are trained all the same.")  # noqa: RUF009
    embeddings: bool = option(False, "Do not train the input embeddings.")
    vision_tower: bool = option(False, "Do not train what encodes images, where the model has it.")
    audio_tower: bool = option(False, "Do not train what encodes sound, where the model has it.")
    language_model: bool = option(False, "Do not train the part that reads and writes text.")


@attrs.frozen
class Checkpoint:
    enabled: bool = option(True, "Write checkpoints.")
    directory: str = option("checkpoints", "Where `step-N` directories are written.", NOT_EMPTY)
    keep_last: int | None = option(None, "How many checkpoints are kept; null: all.", POSITIVE)
    max_shard_size: str = option("5GB", "Largest file of weights.", BYTE_SIZE)
    save_optimizer: bool = option(True, "Save what a resumed run needs, not the weights alone.")
    overwrite: bool = option(False, "Let a new run set the checkpoints of another run aside, as `abandoned-step-N-K`.")


@attrs.frozen
class Tokenizer:
    name_or_path: str | None = option(None, "Null: the model's.", NOT_EMPTY)
    trust_remote_code: bool = option(False, "Run Python code that the tokenizer's directory or hub id brings.")


@attrs.frozen
class Evaluation:
    exact_match_samples: int = option(
        20, "How many answers are generated and compared word for word, where the model writes text.", NOT_NEGATIVE
    )
    json: bool = option(False, "Print the result as JSON.")


@attrs.frozen
class Tensorboard:
    directory: str | None = option(None, "Where event files are; null: `tensorboard` in the record's.", NOT_EMPTY)


@attrs.frozen
class Wandb:
    enabled: bool = option(True, "False: as if the section were not there.")
    project: str = option("automodel", "Project of the run.", NOT_EMPTY)
    name: str | None = option(None, "Name of the run; null: as wandb chooses.", NOT_EMPTY)
    entity: str | None = option(None, "User or team; null: yours.", NOT_EMPTY)
    id: str | None = option(None, "Id of the run; one that exists is gone on with.", NOT_EMPTY)
    group: str | None = option(None, "Group that the run is shown in.", NOT_EMPTY)
    tags: list[str] = option([], "Tags of the run.")  # noqa: RUF009
    mode: Literal["online", "offline", "disabled"] | None = option(None, "Null: as `WANDB_MODE` says, or online.")
    directory: str | None = option(None, "Where wandb keeps its files; null: the record's directory.", NOT_EMPTY)


@attrs.frozen
class Mlflow:
    tracking_uri: str | None = option(
        None,
        "Null: as `MLFLOW_TRACKING_URI` says, or `mlflow.db` (SQLite) in the record's directory.",
        NOT_EMPTY,
    )
    experiment: str = option("automodel", "Experiment of the run.", NOT_EMPTY)
    name: str | None = option(None, "Name of the run; null: as MLflow chooses.", NOT_EMPTY)
    id: str | None = option(None, "Id of a run to go on with; null: a new one.", NOT_EMPTY)


@attrs.frozen
class Trackio:
    project: str = option("automodel", "Project of the run.", NOT_EMPTY)
    name: str | None = option(None, "Name of the run; one that exists is gone on with.", NOT_EMPTY)
    space_id: str | None = option(None, "Space of the Hugging Face hub to log to; null: on this machine.", NOT_EMPTY)


@attrs.frozen
class Logging:
    directory: str | None = option(None, "Where the record is written; null: the checkpoint directory.", NOT_EMPTY)
    jsonl: bool = option(True, "Write every step's metrics as JSON lines; the curves below are drawn from them.")
    plot: bool = option(True, "Draw `loss.png` at the end, when matplotlib is installed.")
    curve: bool | None = option(None, "Print the loss curve at the end; null: on a terminal.")
    tensorboard: Tensorboard | None = option(None, "Log to TensorBoard; `{}` takes every default.")  # noqa: RUF009
    wandb: Wandb | None = option(None, "Log to Weights & Biases; `{}` takes every default.")  # noqa: RUF009
    mlflow: Mlflow | None = option(None, "Log to MLflow; `{}` takes every default.")  # noqa: RUF009
    trackio: Trackio | None = option(None, "Log to trackio; `{}` takes every default.")  # noqa: RUF009


@attrs.frozen
class Fp8:
    enabled: bool = option(False, "Use FP8 matrix products.")


@attrs.frozen
class Qat:
    enabled: bool = option(False, "Train with simulated quantization.")
