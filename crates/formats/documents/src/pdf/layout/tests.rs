//! Tests of reading order.

use proptest::prelude::*;

use super::*;

/// A run of size 10 with 5 units per character.
fn run(text: &str, x: f64, y: f64) -> TextRun {
    let width = 5.0 * text.chars().map(|_| 1.0).sum::<f64>();
    let (start, end) = (PagePoint { x, y }, PagePoint { x: x + width, y });
    TextRun { text: text.to_owned(), start, end, size: 10.0, angle: 0 }
}

/// The run on a page rotated counter-clockwise.
fn rotated(run: TextRun, angle: i32) -> TextRun {
    let [start, end] = [run.start, run.end].map(|it| rotate_upright(it, (360 - angle) % 360));
    TextRun { start, end, angle: (run.angle + angle) % 360, ..run }
}

#[track_caller]
fn check(runs: &[TextRun], expected: &str) {
    assert_eq!(arrange_text(runs.to_vec(), 0), expected);
    for angle in [90, 180, 270, 30] {
        let page: Vec<TextRun> = runs.iter().cloned().map(|run| rotated(run, angle)).collect();
        assert_eq!(arrange_text(page, angle), expected, "turned by {angle}");
    }
}

/// Lines below each other.
fn column(lines: &[&str], x: f64, y: f64) -> Vec<TextRun> {
    (0..).zip(lines).map(|(line, text)| run(text, x, y - 12.0 * f64::from(line))).collect()
}

const LEFT: [&str; 3] = ["the left column has", "lines that are long", "enough to be read"];
const RIGHT: [&str; 3] = ["and the right column", "goes on from there on", "until the page ends."];

#[test]
fn rows_are_read_from_the_top_whatever_was_drawn_first() {
    check(&[run("below", 0.0, 0.0), run("above", 0.0, 12.0)], "above\nbelow\n");
    check(&[run("right", 40.0, 0.0), run("left", 0.0, 1.0)], "left\tright\n");
}

#[test]
fn gaps_are_nothing_a_space_or_a_tab() {
    check(&[run("ab", 0.0, 0.0), run("cd", 10.5, 0.0)], "abcd\n");
    check(&[run("ab", 0.0, 0.0), run("cd", 13.0, 0.0)], "ab cd\n");
    check(&[run("ab", 0.0, 0.0), run("cd", 30.0, 0.0)], "ab\tcd\n");
}

#[test]
fn paragraphs_are_parted_by_a_line() {
    let runs = [run("a", 0.0, 50.0), run("b", 0.0, 38.0), run("c", 0.0, 10.0)];
    check(&runs, "a\nb\n\nc\n");
}

#[test]
fn columns_are_read_to_their_end() {
    let title = run("A title that stands over the whole of both columns", 0.0, 120.0);
    let columns = [vec![title], column(&LEFT, 0.0, 100.0), column(&RIGHT, 130.0, 100.0)].concat();
    let foot = run("and a line at the foot that goes across the page", 10.0, 50.0);
    let text = "A title that stands over the whole of both columns\n\n\
        the left column has\nlines that are long\nenough to be read\n\n\
        and the right column\ngoes on from there on\nuntil the page ends.\n\n\
        and a line at the foot that goes across the page\n";
    check(&[columns.clone(), vec![foot]].concat(), text);
    // Lines of columns need not have the same heights.
    let shifted = [column(&LEFT, 0.0, 100.0), column(&RIGHT, 130.0, 94.0)].concat();
    check(&shifted, &format!("{}\n\n{}\n", LEFT.join("\n"), RIGHT.join("\n")));
}

#[test]
fn tables_are_read_by_row() {
    let cells = |row: usize| [run(LEFT[row], 0.0, 0.0), run(RIGHT[row], 130.0, 0.0)];
    let at = |row: usize, y: f64| {
        cells(row).map(|run| TextRun {
            start: PagePoint { y, ..run.start },
            end: PagePoint { y, ..run.end },
            ..run
        })
    };
    let table = [at(0, 50.0), at(1, 38.0), at(2, 26.0)].concat();
    let rows: Vec<String> = (0..3).map(|row| format!("{}\t{}\n", LEFT[row], RIGHT[row])).collect();
    check(&table, &rows.concat());
    let names =
        [column(&["Name", "City", "Age"], 0.0, 50.0), column(&["Ada", "London", "36"], 60.0, 50.0)];
    check(&names.concat(), "Name\tAda\nCity\tLondon\nAge\t36\n");
}

#[test]
fn small_letters_stay_in_their_row() {
    let above = TextRun { size: 7.0, ..run("2", 5.0, 4.0) };
    let below = TextRun { size: 7.0, ..run("n", 15.0, -3.0) };
    check(&[run("x", 0.0, 0.0), above, run("y", 10.0, 0.0), below], "x2yn\n");
}

#[test]
fn what_is_drawn_twice_to_look_bold_is_read_once() {
    check(&[run("Bold", 0.0, 0.0), run("Bold", 0.4, 0.1), run("Bold", 40.0, 0.0)], "Bold\tBold\n");
}

#[test]
fn turned_texts_follow_the_upright_ones() {
    let side = rotated(run("side", 0.0, 0.0), 90);
    assert_eq!(arrange_text(vec![side, run("upright", 50.0, 0.0)], 0), "upright\n\nside\n");
}

fn letters(text: &str) -> Vec<char> {
    let mut letters: Vec<char> = text.chars().filter(|it| !it.is_whitespace()).collect();
    letters.sort_unstable();
    letters
}

fn any_run() -> impl Strategy<Value = TextRun> {
    let place = (-600.0..600.0, -600.0..600.0);
    ("[a-z]{1,12}( [a-z]{1,9})?", place, 1.0..40.0, 0..360, any::<bool>()).prop_map(
        |(text, (x, y), size, angle, is_turned)| {
            let angle = if is_turned { angle } else { 0 };
            rotated(TextRun { size, ..run(&text, x, y) }, angle)
        },
    )
}

proptest! {
    #[test]
    fn nothing_is_lost_or_made_up(runs in prop::collection::vec(any_run(), 0..60)) {
        // Numbered, so that no run is a duplicate of another.
        let runs: Vec<TextRun> = (0..)
            .zip(runs)
            .map(|(number, run)| TextRun { text: format!("{}{number}", run.text), ..run })
            .collect();
        let all: String = runs.iter().map(|run| run.text.as_str()).collect();
        let text = arrange_text(runs, 0);
        prop_assert_eq!(letters(&text), letters(&all));
        prop_assert!(!text.contains("\n\n\n"), "no more than one empty line");
    }

    #[test]
    fn lines_under_one_another_stay_in_their_order(
        count in 1_u32..40,
        order in any::<prop::sample::Index>(),
    ) {
        let mut runs: Vec<TextRun> = (0..count)
            .map(|line| run(&format!("line {line}"), 0.0, -12.0 * f64::from(line)))
            .collect();
        let expected: String = (0..count).map(|line| format!("line {line}\n")).collect();
        let first = order.index(runs.len());
        runs.rotate_left(first);
        prop_assert_eq!(arrange_text(runs, 0), expected);
    }
}
