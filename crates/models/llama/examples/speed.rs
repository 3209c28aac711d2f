//! Measures the speed of llama.cpp itself, as its own `llama-bench` does: prompts of 512 tokens,
//! answers of 128, and answers of several concurrent sequences. No sampling or output is included.
//!
//! `cargo run --release -p llama --example speed -- LIBRARY MODEL THREADS [GPU_PART [NEEDED...]]`

#![expect(clippy::print_stdout, reason = "the numbers are what it is for")]

use std::error::Error;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use llama::{
    ContextSettings, GpuBackend, LlamaContext, LlamaLibrary, LlamaModel, TokenBatch, TokenId,
};

const PROMPT_TOKENS: u32 = 512;
const ANSWER_TOKENS: u32 = 128;
const SEQUENCES: [u32; 3] = [1, 4, 16];
/// Measured rounds after a warm-up; the median is printed.
const ROUNDS: usize = 5;
/// The choice of token makes no difference.
const SOME: TokenId = TokenId(100);

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut next = |what: &str| arguments.next().ok_or(format!("{what} is missing"));
    let library = LlamaLibrary::load(&PathBuf::from(next("the library")?))?;
    let (model, threads) = (PathBuf::from(next("the model")?), next("the threads")?.parse()?);
    let part = arguments.next().map(PathBuf::from);
    let has_gpu = part.is_some();
    if let Some(file) = part {
        library.load_gpu_backend(&GpuBackend {
            file,
            needs: arguments.map(PathBuf::from).collect(),
        })?;
    }
    let model = LlamaModel::open(library, &model, if has_gpu { u32::MAX >> 1 } else { 0 })?;
    let prompt = measure_median(|| measure_prompt(&model, threads))?;
    println!("prompt: {:.0} tokens/s", f64::from(PROMPT_TOKENS) / prompt.as_secs_f64());
    for sequences in SEQUENCES {
        let answers = measure_median(|| measure_answers(&model, threads, sequences))?;
        let tokens = f64::from(ANSWER_TOKENS * sequences);
        println!("{sequences} at once: {:.0} tokens/s", tokens / answers.as_secs_f64());
    }
    Ok(())
}

type Measured = Result<Duration, Box<dyn Error>>;

fn measure_median(mut measure: impl FnMut() -> Measured) -> Measured {
    measure()?;
    let mut all: Vec<Duration> = (0..ROUNDS).map(|_| measure()).collect::<Result<_, _>>()?;
    all.sort_unstable();
    Ok(all[ROUNDS / 2])
}

fn create_context(
    model: &LlamaModel,
    threads: u32,
    sequences: u32,
) -> Result<LlamaContext<'_>, &'static str> {
    let context_tokens = sequences * 1024;
    let settings =
        ContextSettings { context_tokens, sequences, batch_tokens_max: PROMPT_TOKENS, threads };
    LlamaContext::new(model, settings).ok_or("there is no memory for it")
}

fn measure_prompt(model: &LlamaModel, threads: u32) -> Measured {
    let mut context = create_context(model, threads, 1)?;
    let mut batch = TokenBatch::default();
    for position in 0..i32::try_from(PROMPT_TOKENS)? {
        batch.add_token(SOME, position, 0, false);
    }
    let started = Instant::now();
    context.decode(&mut batch)?;
    // GPUs compute asynchronously; reading the logits waits for the result.
    batch.clear();
    batch.add_token(SOME, i32::try_from(PROMPT_TOKENS)?, 0, true);
    context.decode(&mut batch)?;
    context.logits(0).ok_or("there are no likelihoods")?;
    Ok(started.elapsed())
}

fn measure_answers(model: &LlamaModel, threads: u32, sequences: u32) -> Measured {
    let mut context = create_context(model, threads, sequences)?;
    let mut batch = TokenBatch::default();
    let started = Instant::now();
    for position in 0..i32::try_from(ANSWER_TOKENS)? {
        batch.clear();
        for sequence in 0..i32::try_from(sequences)? {
            batch.add_token(SOME, position, sequence, true);
        }
        context.decode(&mut batch)?;
        context.logits(0).ok_or("there are no likelihoods")?;
    }
    Ok(started.elapsed())
}
