//! Measures throughput: `speed embedding MODELS THREADS BATCH SECONDS SENTENCES` and `speed
//! transcription MODELS THREADS MODEL SOUND`. `compare.py` compares with Python.

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a tool that prints numbers")]

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use audio_codec::{DecodeLimits, MonoDecoder};
use engine_onnx::OnnxRuntime;
use engine_onnx::embedding::{OverflowPolicy, TextEmbedder};
use engine_onnx::transcription::{
    SAMPLE_RATE, SpeechTranscriber, TranscriptionModelKind, TranscriptionOptions,
};

const LIMITS: DecodeLimits =
    DecodeLimits { bytes_max: 1 << 30, seconds_max: 36_000, channels_max: 8 };

fn main() {
    // Cargo appends `--bench` to the arguments.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|it| it != "--bench").collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["embedding", models, threads, batch, seconds, sentences] => {
            let runtime = runtime(models, threads);
            let model = Path::new(models).join("all-minilm-l6-v2");
            let seconds = Duration::from_secs(seconds.parse().unwrap());
            embedding(&runtime, &model, batch.parse().unwrap(), seconds, sentences);
        }
        ["transcription", models, threads, model, sound] => {
            let runtime = runtime(models, threads);
            transcription(&runtime, models, model, sound);
        }
        _ => println!("speed embedding|transcription …"),
    }
}

fn runtime(models: &str, threads: &str) -> OnnxRuntime {
    let library = Path::new(models).join("onnxruntime/libonnxruntime.so");
    OnnxRuntime::load(&library, threads.parse().unwrap()).unwrap()
}

/// Sentences per second, including tokenization.
fn embedding(runtime: &OnnxRuntime, model: &Path, batch: usize, time: Duration, sentences: &str) {
    let embedder = TextEmbedder::load(runtime, model).unwrap();
    let text = std::fs::read_to_string(sentences).unwrap();
    let sentences: Vec<&str> = text.lines().collect();
    let mut batches = sentences.chunks_exact(batch).cycle();
    let mut once = || embedder.embed(batches.next().unwrap(), OverflowPolicy::Truncate).unwrap();
    for _ in 0..4 {
        once();
    }
    let (begun, mut done) = (Instant::now(), 0);
    while begun.elapsed() < time {
        done += once().vectors.len();
    }
    println!("{}", done as f64 / begun.elapsed().as_secs_f64());
}

/// Time for loading and transcription, relative to the length of the audio.
fn transcription(runtime: &OnnxRuntime, models: &str, model: &str, sound: &str) {
    let kind = if model.starts_with("whisper") {
        TranscriptionModelKind::Whisper
    } else {
        TranscriptionModelKind::Moonshine
    };
    let begun = Instant::now();
    let transcriber =
        SpeechTranscriber::load(runtime, &Path::new(models).join(model), kind).unwrap();
    let load_s = begun.elapsed().as_secs_f64();
    let file = std::fs::read(sound).unwrap();
    for words in [false, true] {
        let options = TranscriptionOptions { words, ..TranscriptionOptions::default() };
        let blocks = MonoDecoder::open(&file, SAMPLE_RATE, &LIMITS).unwrap();
        let begun = Instant::now();
        let heard = transcriber.transcribe(blocks, &options, &AtomicBool::new(false)).unwrap();
        let took_s = begun.elapsed().as_secs_f64();
        let length_s = heard.duration_s;
        let factor = took_s / length_s;
        println!(
            "{model}: words {words}, {length_s:.1} s heard in {took_s:.2} s: {factor:.3} of real time; loaded in {load_s:.2} s"
        );
    }
}
