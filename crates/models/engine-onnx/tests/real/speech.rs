//! Tests speech with the real models: phonemes and audio.

use engine_onnx::speech::{CHARACTERS_MAX, SAMPLE_RATE_HZ, SpeechModelKind, SpeechSynthesizer};

use crate::models;

pub(crate) fn hibari() -> SpeechSynthesizer {
    let folder = models::folder("tts-hibari");
    SpeechSynthesizer::load(&models::runtime(), SpeechModelKind::Hibari, &folder, &folder).unwrap()
}

pub(crate) fn kokoro() -> SpeechSynthesizer {
    let language = models::folder("tts-hibari");
    let folder = models::folder("tts-kokoro");
    SpeechSynthesizer::load(&models::runtime(), SpeechModelKind::Kokoro, &folder, &language)
        .unwrap()
}

/// Agreement in words with the reference, hibari-tts 0.2.1.
#[derive(Default)]
struct Agreement {
    words: usize,
    same: usize,
    differences: String,
}

fn agreement(synthesizer: &SpeechSynthesizer, voice: &str, column: usize) -> Agreement {
    let mut agreement = Agreement::default();
    for line in include_str!("../reference/pronunciations.tsv").lines() {
        let columns: Vec<&str> = line.split('\t').collect();
        let (text, expected) = (columns[0], columns[column]);
        let found = synthesizer.text_phonemes(text, voice).unwrap();
        let (words, same) = compare(expected, &found);
        if same != words {
            agreement.differences += &format!("{text}\n  {expected}\n  {found}\n");
        }
        agreement.words += words;
        agreement.same += same;
    }
    agreement
}

/// The length of the longest common subsequence of words, so that an extra word does not count as a
/// difference of all words after it.
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
fn check_agreement(synthesizer: &SpeechSynthesizer, voice: &str, column: usize) {
    let Agreement { words, same, differences } = agreement(synthesizer, voice, column);
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

/// A greeting that becomes silence in half precision.
const GREETING: &str = "həlˈO ðˈɛɹ.";

#[test]
fn kokoro_sounds_like_the_reference() {
    let sound = kokoro().speak_phonemes(GREETING, "af_sky").unwrap();
    let expected = samples(include_bytes!("../reference/kokoro-hello.wav"));
    assert_eq!(sound.len(), expected.len());
    let pairs = sound.iter().zip(&expected);
    let difference = pairs.map(|(a, b)| (a - b).abs()).fold(0.0f32, f32::max);
    assert!(difference < 0.002, "differs by {difference}");
}

#[test]
fn hibari_sounds_like_the_reference() {
    let sound = hibari().speak_phonemes(GREETING, "af_heart").unwrap();
    let expected = samples(include_bytes!("../reference/hibari-hello.wav"));
    assert_eq!(sound.len(), expected.len());
    // The reference uses other noise.
    let likeness = correlation(&sound, &expected);
    let likeness_min = if crate::sums_are_exact() { 0.999 } else { 0.8 };
    assert!(likeness_min < likeness, "correlation {likeness}");
}

fn samples(wav: &[u8]) -> Vec<f32> {
    let (samples, _) = wav[44..].as_chunks::<2>();
    samples.iter().map(|it| f32::from(i16::from_le_bytes(*it)) / 32767.0).collect()
}

fn correlation(a: &[f32], b: &[f32]) -> f32 {
    let product = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    product(a, b) / (product(a, a) * product(b, b)).sqrt()
}

#[test]
fn kokoro_has_a_voice_for_every_file_whose_language_we_read() {
    let kokoro = kokoro();
    let names: Vec<&str> = kokoro.voices().iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names.len(), 28);
    assert!(names.is_sorted() && names.contains(&"af_sky") && names.contains(&"bm_george"));
    // This text also became silence in half precision, with a British voice.
    let spoken: Vec<f32> =
        kokoro.speak("Thank you.", "bm_george", 1.0).unwrap().flat_map(Result::unwrap).collect();
    assert!(spoken.iter().any(|it| 0.1 < it.abs()));
}

#[test]
fn sentences_come_one_after_the_other() {
    let hibari = hibari();
    let pieces: Vec<Vec<f32>> = hibari
        .speak("One sentence. And another! ... A third?", "af_heart", 1.0)
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert_eq!(pieces.len(), 3);
    assert!(pieces.iter().all(|it| 12_000 < it.len() && it.len() < 60_000));
}

#[test]
fn a_long_first_sentence_is_heard_from_its_first_clause() {
    let hibari = hibari();
    let text = "When the sun had gone down behind the hills, the travellers made a fire, sat down \
                around it and told each other stories until the stars came out. The end.";
    let pieces: Vec<Vec<f32>> =
        hibari.speak(text, "af_heart", 1.0).unwrap().map(Result::unwrap).collect();
    assert_eq!(pieces.len(), 3);
    assert!(pieces[0].len() < pieces[1].len() / 2, "{} {}", pieces[0].len(), pieces[1].len());
}

#[test]
fn the_speed_divides_the_length() {
    let hibari = hibari();
    let text = "The quick brown fox jumps over the lazy dog.";
    let length = |speed: f32| {
        let pieces = hibari.speak(text, "af_heart", speed).unwrap();
        pieces.map(|it| it.unwrap().len()).sum::<usize>() as f32
    };
    let natural = length(1.0);
    for speed in [0.25, 0.5, 2.0, 4.0] {
        let ratio = natural / length(speed) / speed;
        assert!((0.8..1.25).contains(&ratio), "speed {speed} is off by {ratio}");
    }
}

#[test]
fn a_long_text_without_a_pause_is_spoken_in_pieces() {
    let hibari = hibari();
    let text = "and then ".repeat(CHARACTERS_MAX / 9);
    let pieces: Vec<Vec<f32>> =
        hibari.speak(&text, "af_heart", 1.0).unwrap().map(Result::unwrap).collect();
    assert!(10 < pieces.len(), "{} pieces", pieces.len());
    let seconds = pieces.iter().map(Vec::len).sum::<usize>() as f32 / SAMPLE_RATE_HZ as f32;
    // About 910 words, at 1.5 to 7.6 words per second.
    assert!(120.0 < seconds && seconds < 600.0, "{seconds} s");
}

#[test]
fn a_cancelled_utterance_ends_also_in_the_midst_of_a_piece() {
    let kokoro = kokoro();
    let text = "This sentence is long enough that nobody could have finished saying it by now.";
    let mut utterance = kokoro.speak(text, "af_sky", 1.0).unwrap();
    let cancel = utterance.cancel_handle();
    let canceller = std::thread::spawn(move || cancel.cancel());
    assert!(utterance.next().is_none());
    canceller.join().unwrap();
    assert!(utterance.next().is_none());
}

#[test]
fn what_cannot_be_said_is_refused() {
    let hibari = hibari();
    let refusal = |text: &str, voice: &str, speed: f32| match hibari.speak(text, voice, speed) {
        Ok(_) => "spoken".to_owned(),
        Err(error) => error.to_string(),
    };
    assert_eq!(refusal("Hi.", "af_sky", 1.0), r#"there is no voice "af_sky""#);
    assert_eq!(refusal("…?! 。", "af_heart", 1.0), "the text has nothing that can be spoken");
    assert_eq!(refusal("你好", "af_heart", 1.0), "the text has nothing that can be spoken");
    assert_eq!(refusal("Hi.", "af_heart", 4.5), "speed 4.5 is not between 0.25 and 4");
    let long = "a".repeat(CHARACTERS_MAX + 1);
    let expected = "the text has 4097 characters, and may have 4096";
    assert_eq!(refusal(&long, "af_heart", 1.0), expected);
}

#[test]
fn whatever_is_written_is_spoken_or_refused() {
    let hibari = hibari();
    let texts = [
        "[x](/ˈɛks/) [](/) [a](b) [[a]](/a/)",
        "'''\"\"\"(((]]]}}}",
        "a'b'c'd'e'f --- ... !?!? @@@ &&& %%% $$$ ### 1/0 0/0 -0 +-5 1e9999",
        "\u{200b}\u{feff}\u{0}x\u{202e}y z\u{301}\u{301}\u{301} 𝕳𝖊𝖑𝖑𝖔 👩‍👩‍👧‍👦 ½²³ Ⅷ ١٢٣",
        "https:// http://a.b/c?d=e&f user@ @host a@b.c.d www. .com 256.256.256.256:99999",
        "Aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaargh",
    ];
    for text in texts {
        if let Ok(utterance) = hibari.speak(text, "af_heart", 1.0) {
            assert!(utterance.flat_map(Result::unwrap).all(f32::is_finite), "{text}");
        }
    }
}
