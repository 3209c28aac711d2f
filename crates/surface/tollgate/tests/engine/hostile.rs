//! Tests of audio files that are truncated, corrupt or huge: a clear refusal, and bounded memory.

use crate::harness::{EngineProcess, code, models_dir};

const SAMPLES: [(&str, &[u8]); 9] = [
    ("wav", include_bytes!("../../../../formats/audio-codec/samples/speech.wav")),
    ("flac", include_bytes!("../../../../formats/audio-codec/samples/speech.flac")),
    ("m4a", include_bytes!("../../../../formats/audio-codec/samples/speech.m4a")),
    ("aac", include_bytes!("../../../../formats/audio-codec/samples/speech.aac")),
    ("mp4", include_bytes!("../../../../formats/audio-codec/samples/speech.mp4")),
    ("mp3", include_bytes!("../../../../formats/audio-codec/samples/speech.mp3")),
    ("ogg", include_bytes!("../../../../formats/audio-codec/samples/speech.ogg")),
    ("oga", include_bytes!("../../../../formats/audio-codec/samples/speech.oga")),
    ("webm", include_bytes!("../../../../formats/audio-codec/samples/speech.webm")),
];
const MODEL: [(&str, &str); 1] = [("model", "moonshine-tiny")];
/// The loaded model takes less than a third of it.
const MEMORY_BYTES_MAX: u64 = 512 << 20;

#[test]
fn files_that_are_cut_or_wrong_are_refused_and_cost_no_memory() {
    let engine = EngineProcess::start(&models_dir());
    for (name, file) in SAMPLES {
        let (status, heard) = engine.transcribe(&MODEL, file);
        assert_eq!(status, 200, "{name}: {heard}");
        // Packet streams become shorter audio when truncated; the other formats fail.
        let (status, told) = engine.transcribe(&MODEL, &file[..file.len() / 2]);
        assert!(status == 200 || status == 400, "half of {name}: {status} {told}");
        let is_counted = matches!(name, "wav" | "flac" | "mp3" | "m4a" | "mp4");
        assert!(!is_counted || status == 400, "half of {name}: {told}");
        let (status, told) = engine.transcribe(&MODEL, &file[..20]);
        assert_eq!((status, code(&told)), (400, "invalid_request".to_owned()), "head of {name}");
        let wild: Vec<u8> = file.iter().enumerate().map(|(at, byte)| wild(at, *byte)).collect();
        let (status, told) = engine.transcribe(&MODEL, &wild);
        assert!(status == 200 || status == 400, "wild {name}: {status} {told}");
    }
    for (name, file) in [("text", b"This is a text.".as_slice()), ("nothing", b"")] {
        let (status, told) = engine.transcribe(&MODEL, file);
        assert_eq!((status, code(&told)), (400, "invalid_request".to_owned()), "{name}");
    }
    assert!(engine.memory_bytes("VmHWM") < MEMORY_BYTES_MAX);
    engine.end();
}

/// Corrupts every 37th byte after the first dozen.
fn wild(at: usize, byte: u8) -> u8 {
    if 12 < at && at.is_multiple_of(37) { byte ^ 0x5a } else { byte }
}

/// Returns a WAV header for 16 kHz, 16 bits, mono and this number of data bytes.
fn wav_head(bytes: u32) -> Vec<u8> {
    let (riff, sound) = ((bytes + 36).to_le_bytes(), bytes.to_le_bytes());
    let format = [16, 0, 0, 0, 1, 0, 1, 0, 0x80, 0x3e, 0, 0, 0, 0x7d, 0, 0, 2, 0, 16, 0];
    [b"RIFF".as_slice(), &riff, b"WAVEfmt ", &format, b"data", &sound].concat()
}

#[test]
fn a_sound_that_is_longer_than_its_file_lets_think_is_bounded() {
    let engine = EngineProcess::start(&models_dir());
    // 60 MiB of silence are half an hour; the file is decoded while it is transcribed.
    let mut silence = wav_head(60 << 20);
    silence.resize(silence.len() + (60 << 20), 0);
    let (status, heard) = engine.transcribe(&MODEL, &silence);
    assert_eq!(status, 200, "{heard}");
    assert!(heard.contains("\"text\":\"\""), "{heard}");
    // The body exceeds the limit.
    silence.resize(65 << 20, 0);
    let (status, told) = engine.transcribe(&MODEL, &silence);
    assert!(status == 400 || status == 413, "{status} {told}");
    assert!(engine.memory_bytes("VmHWM") < MEMORY_BYTES_MAX);
    engine.end();
}
