"""Text that fits and that the font can draw."""

from hypothesis import given
from hypothesis import strategies as st

from vjproof.picture.text import drawable, fit, font, wrap


def test_letters_that_the_font_lacks_become_plain_letters_or_question_marks() -> None:
    assert drawable("Bag 7 · ±") == "Bag 7 · ±"
    assert drawable("Äpfel café") == "Apfel cafe"
    assert drawable("猫\x1b\n") == "???"


@given(st.text(max_size=200), st.integers(40, 600))
def test_fitted_text_is_never_wider_than_its_place(text: str, width: int) -> None:
    assert font(16).getlength(fit(text, 16, width)) <= width


def test_long_names_keep_their_beginning_and_end() -> None:
    shown = fit("holiday-" * 30 + "last.jpg", 16, 300)
    assert shown.startswith("holiday")
    assert shown.endswith("last.jpg")
    assert fit("short.jpg", 16, 300) == "short.jpg"


def test_wrapped_text_keeps_its_words_while_there_is_room() -> None:
    text = "one two three four five six seven eight nine ten"
    lines = wrap(text, 16, 150, 9)
    assert " ".join(lines) == text
    assert len(lines) > 1
    assert len(wrap(text, 16, 150, 2)) == 2
    assert wrap("", 16, 150, 2) == []
