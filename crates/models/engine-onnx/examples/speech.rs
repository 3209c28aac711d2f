//! Measures speech: time to load, time to the first audio, and time to speak a paragraph.
//!
//! `cargo run --release -p engine-onnx --example speech -- MODELS_DIR [THREADS]`

#![expect(clippy::print_stdout, reason = "the numbers are what it is for")]

use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

use engine_onnx::OnnxRuntime;
use engine_onnx::speech::{SAMPLE_RATE_HZ, SpeechModelKind, SpeechSynthesizer};

const TEXT: &str = "The quick brown fox jumps over the lazy dog. On the 3rd of March 2024, 1,250 \
    people paid $9.99 each to hear it read at 7:30 pm, and nobody asked for their money back. \
    She sells sea shells by the sea shore, although the shells that she sells are surely not from \
    there. Would you believe it?";

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let models = arguments.next().ok_or("say where the models are")?;
    let threads = arguments.next().map_or(Ok(2), |it| it.parse())?;
    let models = Path::new(&models);
    let library = models.join("onnxruntime/libonnxruntime.so");
    let runtime = OnnxRuntime::load(&library, threads)?;
    for (kind, folder, voice) in [
        (SpeechModelKind::Hibari, "tts-hibari", "af_heart"),
        (SpeechModelKind::Kokoro, "tts-kokoro", "af_sky"),
    ] {
        let begun = Instant::now();
        let synthesizer = SpeechSynthesizer::load(
            &runtime,
            kind,
            &models.join(folder),
            &models.join("tts-hibari"),
        )?;
        let loaded = begun.elapsed();
        let cold = measure_speech(&synthesizer, "Hello there.", voice)?;
        let warm = measure_speech(&synthesizer, TEXT, voice)?;
        println!("{kind:?} with {threads} threads, {} MB resident", resident_megabytes());
        println!("  load {:.2} s, then a greeting in {:.2} s", loaded.as_secs_f32(), cold.wall_s());
        println!(
            "  {:.1} s of speech: first after {:.2} s, all after {:.2} s ({:.2} of real time), \
             {:.2} s of CPU ({:.2} per second of speech)",
            warm.speech_s,
            warm.first.as_secs_f32(),
            warm.wall_s(),
            warm.wall_s() / warm.speech_s,
            warm.cpu_s,
            warm.cpu_s / warm.speech_s,
        );
    }
    Ok(())
}

struct SpeechMeasurement {
    first: Duration,
    wall: Duration,
    cpu_s: f32,
    speech_s: f32,
}

impl SpeechMeasurement {
    fn wall_s(&self) -> f32 {
        self.wall.as_secs_f32()
    }
}

fn measure_speech(
    synthesizer: &SpeechSynthesizer,
    text: &str,
    voice: &str,
) -> Result<SpeechMeasurement, Box<dyn Error>> {
    let (begun, cpu_s) = (Instant::now(), cpu_s()?);
    let mut first = None;
    let mut samples = 0;
    for piece in synthesizer.speak(text, voice, 1.0)? {
        samples += piece?.len();
        first.get_or_insert_with(|| begun.elapsed());
    }
    let speech_s = samples as f32 / SAMPLE_RATE_HZ as f32;
    let first = first.ok_or("nothing was said")?;
    Ok(SpeechMeasurement { first, wall: begun.elapsed(), cpu_s: self::cpu_s()? - cpu_s, speech_s })
}

/// CPU time of this process so far, in seconds.
fn cpu_s() -> Result<f32, Box<dyn Error>> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let fields: Vec<&str> =
        stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |field: usize| fields.get(field).and_then(|it| it.parse::<f32>().ok());
    Ok((ticks(11).unwrap_or(0.0) + ticks(12).unwrap_or(0.0)) / 100.0)
}

fn resident_megabytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|it| it.strip_prefix("VmRSS:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap_or(0) / 1024
}
