"""Vision-language runs: what is learned, what plain transformers makes of it, and what is said of wrong input."""

import json

import pytest
import torch
from PIL import Image
from tiny_vlm import make_idefics3, make_llava, write_questions
from transformers import AutoModelForImageTextToText, AutoProcessor

import automodel_core as am
from automodel_core.data.row_source import RowSource
from automodel_vlm.data.visual_chat import VisualChatDataset
from automodel_vlm.data.visual_collate import VisualCollate
from automodel_vlm.data.visual_question import VisualQuestionDataset
from automodel_vlm.processing import load_processor


@pytest.fixture(scope="module")
def llava(tmp_path_factory):
    return make_llava(tmp_path_factory.mktemp("llava"))


@pytest.fixture(scope="module")
def idefics3(tmp_path_factory):
    return make_idefics3(tmp_path_factory.mktemp("idefics3"))


@pytest.fixture
def data(tmp_path):
    return write_questions(tmp_path / "data")


@pytest.fixture
def config(llava, data, tmp_path):
    return {
        "model": {"_target_": "NeMoAutoModelForImageTextToText", "name_or_path": str(llava)},
        "dataset": {"_target_": "VisualQuestionDataset", "path": str(data), "max_seq_length": 96},
        "dataloader": {"batch_size": 4},
        "step_scheduler": {"max_steps": 2},
        "optimizer": {"_target_": "torch.optim.AdamW", "lr": 3e-3},
        "checkpoint": {"directory": str(tmp_path / "run")},
    }


def write(directory, *rows):
    (directory / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return str(directory / "rows.jsonl")


def rows_of(directory):
    return [json.loads(line) for line in (directory / "rows.jsonl").read_text().splitlines()]


def conversation(*parts, answer="red"):
    return {
        "messages": [{"role": "user", "content": list(parts)}, {"role": "assistant", "content": answer}],
    }


IMAGE = {"type": "image"}
TEXT = {"type": "text", "text": "what colour is this ?"}


@pytest.mark.parametrize("family", ["llava", "idefics3"])
def test_what_is_learned_is_the_answer_and_the_end_of_its_turn(family, data, request):
    processor = load_processor(str(request.getfixturevalue(family)))
    dataset = VisualQuestionDataset(str(data), processor, split="all", max_seq_length=128)
    batch = VisualCollate(processor)([dataset[i] for i in range(6)])
    for row, labels in enumerate(batch["labels"]):
        learned = labels[labels != -100].tolist()
        assert processor.tokenizer.convert_ids_to_tokens(learned) == [rows_of(data)[row]["answer"], "</s>"]
        positions = (labels != -100).nonzero().flatten()
        assert batch["input_ids"][row, positions + 1].tolist() == learned


@pytest.mark.parametrize("family", ["llava", "idefics3"])
def test_a_batch_is_what_the_processor_makes_of_the_conversation(family, data, request):
    directory = request.getfixturevalue(family)
    processor = load_processor(str(directory))
    dataset = VisualQuestionDataset(str(data), processor, split="all", max_seq_length=128)
    theirs = AutoProcessor.from_pretrained(directory)
    for number, row in enumerate(rows_of(data)[:4]):
        messages = [
            {"role": "user", "content": [IMAGE, {"type": "text", "text": row["question"]}]},
            {"role": "assistant", "content": [{"type": "text", "text": row["answer"]}]},
        ]
        text = theirs.apply_chat_template(messages, tokenize=False)
        expected = theirs(text=[text], images=[[Image.open(data / row["image"])]], return_tensors="pt")
        ours = VisualCollate(processor)([dataset[number]])
        assert torch.equal(ours["input_ids"], expected["input_ids"])
        assert torch.equal(ours["pixel_values"].flatten(0, -4), expected["pixel_values"].flatten(0, -4))


@pytest.mark.parametrize("family", ["llava", "idefics3"])
def test_a_sample_s_logits_do_not_depend_on_what_is_in_its_batch(family, data, request, tmp_path):
    """One image, two images of other sizes, and none."""
    directory = request.getfixturevalue(family)
    processor = load_processor(str(directory))
    Image.new("RGB", (30, 90), (0, 200, 0)).save(data / "tall.png")
    rows = [
        {**conversation(IMAGE, TEXT), "images": ["images/0.png"]},
        {**conversation(IMAGE, TEXT, IMAGE, answer="green"), "images": ["tall.png", "images/1.png"]},
        conversation(TEXT, answer="no"),
    ]
    path = write(data, *rows)
    dataset = VisualChatDataset(path, processor, split="all", max_seq_length=256)
    collate = VisualCollate(processor)
    model = AutoModelForImageTextToText.from_pretrained(directory).eval()
    together = collate([dataset[i] for i in range(3)])
    with torch.no_grad():
        inputs = {k: v for k, v in together.items() if k != "labels"}
        all_logits = model(**inputs).logits
        for number in range(3):
            alone = collate([dataset[number]])
            length = alone["input_ids"].shape[1]
            inputs = {k: v for k, v in alone.items() if k != "labels"}
            assert torch.allclose(model(**inputs).logits[0], all_logits[number, :length], atol=2e-5)


def test_the_first_loss_is_that_of_plain_transformers(config, llava, records):
    recipe = am.run(config, route="finetune vlm")
    batch = next(iter(recipe.run.stream.loader.batches(0)))
    labels = torch.full_like(batch["labels"], -100)
    labels[:, 1:] = batch["labels"][:, :-1]  # transformers shifts them itself
    model = AutoModelForImageTextToText.from_pretrained(llava)
    inputs = {key: value for key, value in batch.items() if key != "labels"}
    with torch.no_grad():
        loss = float(model(**inputs, labels=labels).loss)
    assert records(config["checkpoint"]["directory"], "step")[0]["loss"] == pytest.approx(loss, rel=1e-5)


@pytest.mark.parametrize("family", ["llava", "idefics3"])
def test_plain_transformers_loads_a_checkpoint_and_gives_the_same_logits(config, request, tmp_path, family):
    config["model"]["name_or_path"] = str(request.getfixturevalue(family))
    recipe = am.run(config, route="finetune vlm")
    saved = tmp_path / "run/step-2"
    model = AutoModelForImageTextToText.from_pretrained(saved).eval()
    AutoProcessor.from_pretrained(saved)
    batch = next(iter(recipe.run.stream.loader.batches(0)))
    inputs = {key: value for key, value in batch.items() if key != "labels"}
    with torch.no_grad():
        assert torch.equal(model(**inputs).logits, recipe.run.model.eval()(**inputs).logits)


def test_it_learns_the_colour_and_says_it_when_asked(config, data, tmp_path, automodel):
    config["step_scheduler"] = {"max_steps": 40}
    am.run(config, route="finetune vlm")
    (tmp_path / "cfg.yaml").write_text(json.dumps({**config, "validation_dataset": {"split": "all"}}))
    words = ("-c", tmp_path / "cfg.yaml", "--restore_from.path", tmp_path / "run")
    code, out, err = automodel("evaluate", "vlm", *words, "--json")
    assert code == 0, err
    assert json.loads(out)["exact_match"] > 0.9
    for number, colour in enumerate(("red", "green", "blue")):
        image = ("--image", data / f"images/{number}.png", "--prompt", "what colour is this ?")
        code, out, err = automodel("generate", "vlm", *words, *image)
        assert code == 0, err
        assert out.strip() == colour


def test_exact_match_is_what_generation_gives(config, data):
    """Every learned token likeliest, given the ones before, is greedy decoding giving the answer."""
    from automodel_core.training.validation import measure_loader
    from automodel_vlm.recipes.finetune import answer

    config["step_scheduler"] = {"max_steps": 12}
    recipe = am.run({**config, "validation_dataset": {"split": "all"}}, route="finetune vlm")
    run, loader = recipe.run, recipe.run.validation["validation"]
    hits = 0
    run.model.eval()
    for number in range(len(loader.dataset)):
        batch = loader.collate([loader.dataset[number]])
        first = int((batch["labels"][0] != -100).nonzero()[0])
        expected = batch["labels"][0][batch["labels"][0] != -100].tolist()
        prompt = {"input_ids": batch["input_ids"][:, : first + 1], "pixel_values": batch["pixel_values"]}
        hits += answer(run, prompt, len(expected)) == expected
    assert measure_loader(run, "validation", loader)["exact_match"] == pytest.approx(hits / len(loader.dataset))


@pytest.mark.parametrize(
    ("pattern", "part"),
    [
        ("model.vision_tower.*", "vision_tower"),
        ("model.multi_modal_projector.*", "multi_modal_projector"),
        ("model.language_model.*", "language_model"),
    ],
)
def test_a_part_is_frozen_by_its_pattern(config, pattern, part):
    recipe = am.run({**config, "freeze": {"patterns": [pattern]}}, route="finetune vlm")
    frozen = {name for name, p in recipe.run.model.named_parameters() if not p.requires_grad}
    assert frozen
    assert all(f"model.{part}." in name for name in frozen)


def test_every_form_of_a_row_is_the_same_sample(data, llava):
    processor = load_processor(str(llava))
    text = TEXT["text"]
    rows = [
        {**conversation(IMAGE, TEXT), "images": ["images/0.png"]},
        conversation({"type": "image", "image": "images/0.png"}, TEXT),
        conversation({"type": "image_url", "image_url": {"url": "images/0.png"}}, TEXT),
        {
            "messages": [{"role": "user", "content": f"<image>{text}"}, {"role": "assistant", "content": "red"}],
            "images": "images/0.png",
        },
        {
            "messages": [{"from": "human", "value": f"<image>{text}"}, {"from": "gpt", "value": "red"}],
            "images": ["images/0.png"],
        },
    ]
    dataset = VisualChatDataset(write(data, *rows), processor, split="all")
    samples = [dataset[i] for i in range(len(rows))]
    assert all(sample == samples[0] for sample in samples)
    questions = {"image": "images/0.png", "question": text, "answer": "red"}
    assert VisualQuestionDataset(write(data, questions), processor, split="all")[0] == samples[0]


def test_a_conversation_that_does_not_fit_with_its_images_is_left_out_and_counted(data, llava, capsys):
    processor = load_processor(str(llava))
    rows = [{**conversation(IMAGE, TEXT), "images": ["images/0.png"]}, conversation(TEXT)]
    dataset = VisualChatDataset(write(data, *rows), processor, split="all", max_seq_length=70)
    assert len(dataset) == 1
    assert dataset.report.dropped == {"longer than `max_seq_length` with their images": 1}
    assert "1 of 2 rows are left out" in capsys.readouterr().err


BROKEN = {
    "no such image": (lambda row: row.update(image="images/99.png"), "AM371", "there is no image `images/99.png`"),
    "no place for an image": (
        lambda row: row.update(image=["images/0.png", "images/1.png"], question="<image> what ?"),
        "AM373",
        "the text has 1 place for an image, and the row names 2",
    ),
    "no image for a place": (
        lambda row: row.update(question="<image><image> what ?"),
        "AM373",
        "the text has 2 places for an image, and the row names 1",
    ),
    "not an image": (lambda row: row.update(image="rows.jsonl"), "AM372", "cannot be read as an image"),
    "an empty path": (lambda row: row.update(image=""), "AM308", "column `image` is empty"),
    "not a path": (lambda row: row.update(image=3), "AM308", "must hold an image or its path"),
    "no column": (lambda row: row.pop("image"), "AM309", "there is no column `image`"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_row_that_cannot_work_is_named_and_nothing_is_built(config, data, tmp_path, automodel, case):
    change, code, says = BROKEN[case]
    rows = rows_of(data)
    change(rows[2])
    write(data, *rows)
    (tmp_path / "cfg.yaml").write_text(json.dumps(config))
    result, _, err = automodel("finetune", "vlm", "-c", tmp_path / "cfg.yaml")
    assert result == 2, err
    assert says in err
    assert f"[{code}]" in err
    assert "rows.jsonl:3`" in err
    assert "Traceback" not in err


def test_every_missing_image_is_said_at_once(config, data):
    write(data, *({**row, "image": f"gone/{n}.png"} for n, row in enumerate(rows_of(data)[:3])))
    with pytest.raises(am.InputError) as error:
        am.run(config, route="finetune vlm")
    assert [d.code for d in error.value.diagnostics] == ["AM371"] * 3


def test_data_without_images_and_a_model_without_a_processor_are_refused(config, data, llava, tmp_path):
    text = {"_target_": "InstructionDataset", "path": str(data), "max_seq_length": 64}
    text["tokenizer_name_or_path"] = str(llava)
    with pytest.raises(am.InputError, match="gives no conversations with images"):
        am.run({**config, "dataset": text}, route="finetune vlm")
    bare = tmp_path / "bare"
    bare.mkdir()
    for file in llava.iterdir():
        if "processor" not in file.name:
            (bare / file.name).write_bytes(file.read_bytes())
    config["model"]["name_or_path"] = str(bare)
    with pytest.raises(am.InputError, match="no processor of images") as error:
        am.run(config, route="finetune vlm")
    assert error.value.diagnostics[0].code == "AM370"


def test_the_preview_counts_the_tokens_of_images(config, tmp_path, automodel):
    (tmp_path / "cfg.yaml").write_text(json.dumps(config))
    code, out, err = automodel("data", "preview", "-c", tmp_path / "cfg.yaml", "--json")
    assert code == 0, err
    shown = json.loads(out)
    assert shown["lengths"]["shortest"] > 64
    assert [segment["text"] for segment in shown["samples"][0]["segments"] if segment["learned"]]


def test_a_row_source_gives_the_directory_that_paths_are_relative_to(data):
    (first, *_) = RowSource(str(data), "all").open()
    assert first.directory == data


def test_images_named_in_parts_and_in_a_column_are_refused(data, llava):
    processor = load_processor(str(llava))
    part = {"type": "image", "image": "images/0.png"}
    row = {**conversation(part, TEXT), "images": ["images/1.png"]}
    with pytest.raises(am.InputError, match="parts of the conversation name images, and so does column") as error:
        VisualChatDataset(write(data, row), processor, split="all")
    assert error.value.diagnostics[0].code == "AM373"
