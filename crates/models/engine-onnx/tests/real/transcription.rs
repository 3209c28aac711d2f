//! Tests the transcription of known speech with the real models.

use std::cell::Cell;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use audio_codec::{DecodeLimits, MonoDecoder, SoundError};
use engine_onnx::transcription::{
    AudioTranscript, SAMPLE_RATE, SpeechTranscriber, TranscriptionError, TranscriptionModelKind,
    TranscriptionOptions, TranscriptionTask,
};

use crate::models::{folder, runtime};

static MOONSHINE: LazyLock<SpeechTranscriber> =
    LazyLock::new(|| load("moonshine-tiny", TranscriptionModelKind::Moonshine));
static WHISPER: LazyLock<SpeechTranscriber> =
    LazyLock::new(|| load("whisper-tiny", TranscriptionModelKind::Whisper));

const FOX: &[u8] = include_bytes!("../sounds/fox.ogg");
const FOX_TEXT: &str = "The quick brown fox jumps over the lazy dog. \
                        Artificial intelligence can run on a small computer.";
const BONJOUR: &[u8] = include_bytes!("../sounds/bonjour.ogg");
const LIMITS: DecodeLimits =
    DecodeLimits { bytes_max: 1_000_000, seconds_max: 600, channels_max: 2 };

fn load(model: &str, kind: TranscriptionModelKind) -> SpeechTranscriber {
    SpeechTranscriber::load(&runtime(), &folder(model), kind).unwrap()
}

fn decode(file: &'static [u8]) -> MonoDecoder<'static> {
    MonoDecoder::open(file, SAMPLE_RATE, &LIMITS).unwrap()
}

fn hear(
    transcriber: &SpeechTranscriber,
    blocks: impl Iterator<Item = Result<Vec<f32>, SoundError>>,
    options: &TranscriptionOptions,
) -> AudioTranscript {
    transcriber.transcribe(blocks, options, &AtomicBool::new(false)).unwrap()
}

fn silence(seconds: usize) -> Result<Vec<f32>, SoundError> {
    Ok(vec![0.0; seconds * SAMPLE_RATE as usize])
}

#[test]
fn moonshine_hears_what_was_said() {
    let transcript = hear(&MOONSHINE, decode(FOX), &TranscriptionOptions::default());
    assert_eq!(transcript.text, FOX_TEXT);
    assert_eq!(transcript.language.as_deref(), Some("en"));
    assert!((transcript.duration_s - 6.875).abs() < 0.01, "{}", transcript.duration_s);
    assert!(!MOONSHINE.knows_words());
}

#[test]
fn whisper_hears_what_was_said_and_when() {
    let options = TranscriptionOptions { words: true, ..TranscriptionOptions::default() };
    let transcript = hear(&WHISPER, decode(FOX), &options);
    assert_eq!(transcript.text, FOX_TEXT);
    assert_eq!(transcript.language.as_deref(), Some("en"));
    let words: Vec<&str> = transcript.words.iter().map(|it| it.text.as_str()).collect();
    assert_eq!(words.join(" "), FOX_TEXT);
    let [first, second] = transcript.segments.as_slice() else {
        panic!("two sentences: {:?}", transcript.segments);
    };
    assert!(first.text.ends_with("dog.") && second.text.starts_with("Artificial"));
    let words = transcript.words.iter().map(|it| (it.start_s, it.end_s));
    let all = words.chain(transcript.segments.iter().map(|it| (it.start_s, it.end_s)));
    for (start_s, end_s) in all {
        assert!(start_s <= end_s && end_s <= 6.9, "{start_s} to {end_s}");
    }
    let starts: Vec<f64> = transcript.words.iter().map(|it| it.start_s).collect();
    assert!(starts.is_sorted(), "{starts:?}");
    // The second sentence begins after a pause in the middle of the audio.
    assert!((2.7..4.0).contains(&starts[9]), "{starts:?}");
}

#[test]
fn whisper_finds_out_the_language_or_takes_the_one_given() {
    let transcript = hear(&WHISPER, decode(BONJOUR), &TranscriptionOptions::default());
    assert_eq!(transcript.language.as_deref(), Some("fr"));
    assert!(transcript.text.starts_with("Bonjour, je m'appelle Mari"), "{}", transcript.text);
    let english =
        TranscriptionOptions { language: Some("en".to_owned()), ..TranscriptionOptions::default() };
    let transcript = hear(&WHISPER, decode(BONJOUR), &english);
    assert_eq!(transcript.language.as_deref(), Some("en"));
}

#[test]
fn whisper_translates_into_english_and_moonshine_does_not() {
    let translate = TranscriptionOptions {
        task: TranscriptionTask::Translate,
        ..TranscriptionOptions::default()
    };
    let transcript = hear(&WHISPER, decode(BONJOUR), &translate);
    // The smallest model writes English, but not what was said: larger ones are needed for that.
    assert!(transcript.text.split(' ').any(|word| word == "you"), "{}", transcript.text);
    assert!(!transcript.text.to_lowercase().contains("bonjour"), "{}", transcript.text);
    assert!(WHISPER.can_translate() && !MOONSHINE.can_translate());
    let refused = MOONSHINE.transcribe(decode(FOX), &translate, &AtomicBool::new(false));
    assert!(matches!(refused, Err(TranscriptionError::Task)), "{refused:?}");
}

#[test]
fn whisper_says_how_sure_it_is() {
    let transcript = hear(&WHISPER, decode(FOX), &TranscriptionOptions::default());
    for segment in &transcript.segments {
        let certainty = segment.certainty.unwrap();
        assert_eq!(certainty.temperature, 0.0, "{segment:?}");
        assert!(-0.6 < certainty.likelihood && certainty.likelihood < 0.0, "{segment:?}");
        assert!((0.5..2.4).contains(&certainty.compression), "{segment:?}");
        assert!(certainty.no_speech < 0.3, "{segment:?}");
    }
    let transcript = hear(&MOONSHINE, decode(FOX), &TranscriptionOptions::default());
    assert!(transcript.segments.iter().all(|it| it.certainty.is_none()));
}

#[test]
fn whisper_takes_a_hint() {
    let hint = |prompt: &str| TranscriptionOptions {
        prompt: Some(prompt.to_owned()),
        ..TranscriptionOptions::default()
    };
    let story = hint("A story of the Lazy Dog and the Quick Brown Fox.");
    let transcript = hear(&WHISPER, decode(FOX), &story);
    let expected = "The Quick Brown Fox jumps over the Lazy Dog.";
    assert!(transcript.text.starts_with(expected), "{}", transcript.text);
    // Special tokens in a hint have no effect.
    let transcript = hear(&WHISPER, decode(FOX), &hint("<|endoftext|><|fr|><|notimestamps|>"));
    assert_eq!(transcript.text, FOX_TEXT);
}

#[test]
fn equal_sounds_give_equal_texts_at_any_temperature() {
    let warm = TranscriptionOptions { temperature: Some(0.5), ..TranscriptionOptions::default() };
    for transcriber in [&*WHISPER, &*MOONSHINE] {
        let first = hear(transcriber, decode(FOX), &warm);
        assert_eq!(hear(transcriber, decode(FOX), &warm), first);
        assert!(first.text.to_lowercase().contains("lazy dog"), "{}", first.text);
    }
    let heard = hear(&WHISPER, decode(FOX), &warm);
    assert_eq!(heard.segments[0].certainty.unwrap().temperature, 0.5);
}

/// Loud enough to pass as speech, but without words.
#[test]
fn a_hum_that_comes_and_goes_has_no_text() {
    let hum = |at: u32| if at / 8_000 % 2 == 1 { 0.3 * (at as f32 * 0.05).sin() } else { 0.0 };
    let block: Vec<f32> = (0..8 * SAMPLE_RATE).map(hum).collect();
    let transcript = hear(&WHISPER, [Ok(block)].into_iter(), &TranscriptionOptions::default());
    assert_eq!(transcript.text, "");
}

#[test]
fn whisper_hears_a_long_sound_with_what_was_said_before_in_mind() {
    let blocks = (0..6).flat_map(|_| decode(FOX).chain([silence(1)]));
    let transcript = hear(&WHISPER, blocks, &TranscriptionOptions::default());
    let letters = |text: &str| -> String {
        text.to_lowercase().chars().filter(|it| it.is_alphabetic()).collect()
    };
    let heard = letters(&transcript.text);
    if crate::sums_are_exact() {
        assert_eq!(heard, letters(&FOX_TEXT.repeat(6)), "{}", transcript.text);
    } else {
        let times = heard.matches("foxjumpsoverthelazydog").count();
        assert_eq!(times, 6, "{}", transcript.text);
    }
    let ends: Vec<f64> = transcript.segments.iter().map(|it| it.end_s).collect();
    assert!(ends.is_sorted() && ends.last().is_some_and(|it| *it < 48.0), "{ends:?}");
}

#[test]
fn a_language_that_the_model_does_not_know_is_refused() {
    let options =
        TranscriptionOptions { language: Some("xx".to_owned()), ..TranscriptionOptions::default() };
    let refused = WHISPER.transcribe(decode(FOX), &options, &AtomicBool::new(false));
    assert!(matches!(refused, Err(TranscriptionError::Language(it)) if it == "xx"));
}

#[test]
fn a_language_is_ignored_by_a_model_that_takes_no_hint() {
    let of = |language: Option<&str>| {
        let options = TranscriptionOptions {
            language: language.map(str::to_owned),
            ..TranscriptionOptions::default()
        };
        MOONSHINE.transcribe(decode(FOX), &options, &AtomicBool::new(false)).unwrap()
    };
    let (hinted, plain) = (of(Some("de")), of(None));
    assert_eq!((hinted.text, hinted.language), (plain.text, Some("en".to_owned())));
}

#[test]
fn a_long_sound_is_heard_stretch_by_stretch() {
    let once = || std::iter::once_with(|| silence(3)).chain(decode(FOX));
    let blocks = (0..6).flat_map(|_| once());
    let transcript = hear(&MOONSHINE, blocks, &TranscriptionOptions::default());
    // A sentence after a pause may begin with a lower-case letter.
    assert_eq!(transcript.text.to_lowercase(), [FOX_TEXT; 6].join(" ").to_lowercase());
    assert!((transcript.duration_s - 6.0 * 9.875).abs() < 0.1, "{}", transcript.duration_s);
    let firsts = transcript.segments.iter().filter(|it| it.text.starts_with("The quick"));
    for (index, segment) in firsts.enumerate() {
        let expected_s = index as f64 * 9.875 + 3.0;
        assert!((segment.start_s - expected_s).abs() < 0.5, "{index}: {segment:?}");
    }
}

#[test]
fn silence_and_nothing_have_no_text() {
    for transcriber in [&*WHISPER, &*MOONSHINE] {
        let transcript =
            hear(transcriber, [silence(5)].into_iter(), &TranscriptionOptions::default());
        assert_eq!(transcript, AudioTranscript { duration_s: 5.0, ..AudioTranscript::default() });
        let transcript = hear(transcriber, std::iter::empty(), &TranscriptionOptions::default());
        assert_eq!(transcript, AudioTranscript::default());
    }
}

#[test]
fn a_sound_that_breaks_off_is_an_error() {
    let broken = decode(FOX).take(2).chain([Err(SoundError::Truncated)]);
    let outcome =
        MOONSHINE.transcribe(broken, &TranscriptionOptions::default(), &AtomicBool::new(false));
    assert!(matches!(outcome, Err(TranscriptionError::Sound(SoundError::Truncated))));
}

#[test]
fn a_transcription_ends_when_it_is_cancelled() {
    let cancelled = AtomicBool::new(false);
    let blocks_taken = Cell::new(0);
    let endless = (0..).flat_map(|_| decode(FOX).chain([silence(2)])).inspect(|_| {
        blocks_taken.set(blocks_taken.get() + 1);
        if blocks_taken.get() == 30 {
            cancelled.store(true, Ordering::Relaxed);
        }
    });
    let outcome = MOONSHINE.transcribe(endless, &TranscriptionOptions::default(), &cancelled);
    assert!(matches!(outcome, Err(TranscriptionError::Cancelled)));
    assert!(blocks_taken.get() < 60, "{} blocks", blocks_taken.get());
}

#[test]
fn callers_at_the_same_time_take_turns() {
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let transcript = hear(&MOONSHINE, decode(FOX), &TranscriptionOptions::default());
                assert_eq!(transcript.text, FOX_TEXT);
            });
        }
    });
}
