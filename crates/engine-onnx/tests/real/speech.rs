//! Speech with the real models: how text is read, and how it sounds.

use engine_onnx::speech::{Kind, Speaker};

use crate::models;

fn hibari() -> Speaker {
    let folder = models::folder("tts-hibari");
    Speaker::load(&models::runtime(), Kind::Hibari, &folder, &folder).unwrap()
}

fn kokoro() -> Speaker {
    let language = models::folder("tts-hibari");
    let folder = models::folder("tts-kokoro");
    Speaker::load(&models::runtime(), Kind::Kokoro, &folder, &language).unwrap()
}

/// Words of which the reference, hibari-tts 0.2.1, thinks the same.
#[derive(Default)]
struct Agreement {
    words: usize,
    same: usize,
    differences: String,
}

fn agreement(speaker: &Speaker, voice: &str, column: usize) -> Agreement {
    let mut agreement = Agreement::default();
    for line in include_str!("../reference/pronunciations.tsv").lines() {
        let columns: Vec<&str> = line.split('\t').collect();
        let (text, expected) = (columns[0], columns[column]);
        let found = speaker.phonemes(text, voice).unwrap();
        let (words, same) = compare(expected, &found);
        if same != words {
            agreement.differences += &format!("{text}\n  {expected}\n  {found}\n");
        }
        agreement.words += words;
        agreement.same += same;
    }
    agreement
}

/// The length of the longest common subsequence of words, so that one word too many does not count
/// for all after it.
fn compare(expected: &str, found: &str) -> (usize, usize) {
    let expected: Vec<&str> = expected.split_whitespace().collect();
    let found: Vec<&str> = found.split_whitespace().collect();
    let mut row = vec![0; found.len() + 1];
    for word in &expected {
        let mut diagonal = 0;
        for (column, other) in found.iter().enumerate() {
            let above = row[column + 1];
            row[column + 1] = if word == other { diagonal + 1 } else { above.max(row[column]) };
            diagonal = above;
        }
    }
    (expected.len().max(found.len()), row[found.len()])
}

#[track_caller]
fn check_agreement(speaker: &Speaker, voice: &str, column: usize) {
    let Agreement { words, same, differences } = agreement(speaker, voice, column);
    assert!(words * 99 <= same * 100, "{same} of {words} words are as expected:\n{differences}");
}

#[test]
fn american_words_are_read_like_the_reference_reads_them() {
    check_agreement(&hibari(), "af_heart", 1);
}

#[test]
fn british_words_are_read_like_the_reference_reads_them() {
    check_agreement(&kokoro(), "bf_emma", 2);
}
