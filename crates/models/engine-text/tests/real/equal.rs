//! Compares the loaded library with a reference build.
//!
//! `equal.json` contains greedy tokens and log probabilities of llama.cpp compiled from source for
//! x86-64-v3. The backend for Haswell, which has the same instructions, gives identical numbers.
//! Backends for other CPUs multiply in another order, and may select another token where two are
//! almost equally likely. `UPDATE_EXPECT=1` rewrites the file.

use std::path::Path;

use engine_text::{TextPrompt, TextRequest};
use serde::{Deserialize, Serialize};

use crate::harness::{answer, ask};

const PROMPTS: [&str; 3] = [
    "The capital of France is",
    "Water boils when it is heated because",
    "def fibonacci(n):\n    \"\"\"Returns the n-th number.\"\"\"\n",
];
const TOKENS: u32 = 40;
const LIKELIEST: u32 = 20;
/// Tolerances for backends with other instructions.
struct Bounds {
    nats_apart_max: f32,
    /// Number of leading tokens that must be equal.
    tokens_equal_min: usize,
}

/// AVX-512 differs from AVX2 by at most 0.16.
const VECTORS: Bounds = Bounds { nats_apart_max: 0.25, tokens_equal_min: 24 };
/// AMX, which multiplies tiles of 8-bit numbers, differs by at most 0.30, and may select another
/// token where two are closer than that.
const TILES: Bounds = Bounds { nats_apart_max: 0.35, tokens_equal_min: 0 };

#[derive(Debug, Serialize, Deserialize)]
struct Written {
    prompt: String,
    /// The bytes of each token, as text where possible.
    tokens: Vec<String>,
    /// Log probability of each generated token.
    logprobs: Vec<f32>,
    /// Alternatives of the first token.
    first: Vec<(String, f32)>,
    /// Alternatives of each token; not stored.
    #[serde(skip)]
    others: Vec<Vec<(String, f32)>>,
}

fn write(prompt: &str) -> Written {
    let text = TextPrompt::Text(prompt.to_owned());
    let request = TextRequest {
        prompt: text,
        completion_tokens_max: Some(TOKENS),
        logprobs: Some(LIKELIEST),
        ..ask("")
    };
    let answer = answer(&request);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let others = answer.logprobs.iter().map(|it| {
        it.alternatives.iter().map(|other| (text(&other.bytes), other.logprob)).collect()
    });
    let others: Vec<Vec<(String, f32)>> = others.collect();
    Written {
        prompt: prompt.to_owned(),
        tokens: answer.logprobs.iter().map(|it| text(&it.token.bytes)).collect(),
        logprobs: answer.logprobs.iter().map(|it| it.token.logprob).collect(),
        first: others[0].clone(),
        others,
    }
}

#[test]
fn greedy_tokens_and_likelihoods_are_those_of_the_compiled_runtime() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/real/equal.json");
    let written: Vec<Written> = PROMPTS.iter().map(|prompt| write(prompt)).collect();
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        let text = serde_json::to_string_pretty(&written).unwrap();
        std::fs::write(&path, text + "\n").unwrap();
        return;
    }
    let expected: Vec<Written> =
        serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    let processor = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let bounds = if processor.contains("amx_int8") { TILES } else { VECTORS };
    for (written, expected) in written.iter().zip(&expected) {
        check(written, expected, &bounds);
    }
}

fn check(written: &Written, expected: &Written, bounds: &Bounds) {
    let prompt = &written.prompt;
    let equal = written.tokens.iter().zip(&expected.tokens).take_while(|(a, b)| a == b).count();
    assert!(bounds.tokens_equal_min <= equal, "{:?} after {prompt:?}", written.tokens);
    if let Some(token) = expected.tokens.get(equal) {
        let chosen = written.logprobs[equal];
        near(token, chosen, &written.others[equal], bounds);
    }
    let pairs = written.logprobs.iter().zip(&expected.logprobs).take(equal);
    let apart = pairs.map(|(one, other)| (one - other).abs()).fold(0.0, f32::max);
    assert!(apart <= bounds.nats_apart_max, "{apart} nats apart after {prompt:?}");
    for (token, logprob) in &expected.first[..10] {
        near(token, *logprob, &written.first, bounds);
    }
}

/// Asserts that the token is among these with a similar log probability.
#[track_caller]
fn near(token: &str, logprob: f32, among: &[(String, f32)], bounds: &Bounds) {
    let found = among.iter().find(|(it, _)| it == token);
    let (_, found) = found.unwrap_or_else(|| panic!("{token:?} is not likely any more"));
    let is_near = (found - logprob).abs() <= bounds.nats_apart_max;
    assert!(is_near, "{token:?}: {found}, was {logprob}");
}
