//! Synthesized speech is transcribed by another model and compared with the text.

use std::sync::atomic::AtomicBool;

use audio_codec::{DecodeLimits, EncoderFormat, MonoDecoder};
use engine_onnx::speech::{SAMPLE_RATE_HZ, SpeechSynthesizer};
use engine_onnx::transcription::{self, SAMPLE_RATE, SpeechTranscriber};

use crate::models::{folder, runtime};
use crate::speech::{hibari, kokoro};

const LIMITS: DecodeLimits =
    DecodeLimits { bytes_max: 10_000_000, seconds_max: 600, channels_max: 2 };

/// Texts as written, and as spoken.
const SENTENCES: [(&str, &str); 4] = [
    ("The quick brown fox jumps over the lazy dog.", "the quick brown fox jumps over the lazy dog"),
    (
        "Please record the meeting with Dr. Smith, because I could not read the notes.",
        "please record the meeting with dr smith because i could not read the notes",
    ),
    (
        "Every morning she walks along the river and thinks about the future of the old town.",
        "every morning she walks along the river and thinks about the future of the old town",
    ),
    (
        "Would you like to live near the sea, or in the mountains?",
        "would you like to live near the sea or in the mountains",
    ),
];

#[test]
fn what_hibari_says_is_understood() {
    check(&hibari(), "af_heart", 1.0);
    check(&hibari(), "af_heart", 0.4);
}

#[test]
fn what_kokoro_says_is_understood() {
    check(&kokoro(), "af_sky", 1.0);
}

#[track_caller]
fn check(synthesizer: &SpeechSynthesizer, voice: &str, speed: f32) {
    let folder = folder("moonshine-tiny");
    let ear = SpeechTranscriber::load(
        &runtime(),
        &folder,
        transcription::TranscriptionModelKind::Moonshine,
    )
    .unwrap();
    let (mut words, mut wrong) = (0, 0);
    let mut heard = String::new();
    for (text, said) in SENTENCES {
        let understood = hear(&ear, &spoken(synthesizer, text, voice, speed));
        let said: Vec<&str> = said.split(' ').collect();
        words += said.len();
        wrong += errors(&said, &understood.split_whitespace().collect::<Vec<_>>());
        heard += &format!("{understood}\n");
    }
    // 5 % of the words, close to the transcriber's own error rate.
    assert!(wrong * 20 <= words, "{wrong} of {words} words were misheard:\n{heard}");
}

fn spoken(synthesizer: &SpeechSynthesizer, text: &str, voice: &str, speed: f32) -> Vec<u8> {
    let pieces = synthesizer.speak(text, voice, speed).unwrap().map(Result::unwrap);
    let samples: Vec<f32> = pieces.flatten().collect();
    audio_codec::encode_file(EncoderFormat::Wav, SAMPLE_RATE_HZ, &samples).unwrap()
}

fn hear(ear: &SpeechTranscriber, file: &[u8]) -> String {
    let blocks = MonoDecoder::open(file, SAMPLE_RATE, &LIMITS).unwrap();
    let options = transcription::TranscriptionOptions::default();
    let transcript = ear.transcribe(blocks, &options, &AtomicBool::new(false)).unwrap();
    let letters = transcript.text.to_lowercase();
    letters.chars().filter(|it| it.is_alphanumeric() || *it == ' ').collect()
}

/// Edit distance in words.
fn errors(said: &[&str], heard: &[&str]) -> usize {
    let mut row: Vec<usize> = (0..=heard.len()).collect();
    for (position, word) in said.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = position + 1;
        for (column, other) in heard.iter().enumerate() {
            let above = row[column + 1];
            let changed = diagonal + usize::from(word != other);
            row[column + 1] = changed.min(above + 1).min(row[column] + 1);
            diagonal = above;
        }
    }
    row[heard.len()]
}
