//! A decoder whose graph has two branches: the first step, and further steps with a cache.

use std::borrow::Cow;
use std::path::Path;

use ort::session::HasSelectedOutputs;
use ort::session::{OutputSelector, RunOptions, Session, SessionInputValue};
use ort::value::{DynValue, Tensor, ValueType};

use crate::runtime::{OnnxRuntime, RuntimeError};

pub(super) struct CachedDecoder {
    session: Session,
    past: Vec<CacheTensor>,
    begin: RunOptions<HasSelectedOutputs>,
    go_on: RunOptions<HasSelectedOutputs>,
}

/// One tensor of the cache, with its input and output names.
struct CacheTensor {
    input: String,
    output: String,
    heads: usize,
    width: usize,
    /// True for tensors that grow with each token; the others are constant after the first step.
    is_growing: bool,
}

/// The key/value cache, in the order of `past`.
pub(super) struct DecoderCache(Vec<DynValue>);

/// Logits of the next token, after each input token.
pub(super) struct TokenLogits {
    values: Vec<f32>,
    vocabulary: usize,
}

/// Cross-attention: per head, a row per token and a column per frame.
pub(super) struct CrossAttention {
    pub(super) heads: usize,
    pub(super) rows: usize,
    pub(super) frames: usize,
    pub(super) values: Vec<f32>,
}

impl CachedDecoder {
    pub(super) fn load(runtime: &OnnxRuntime, file: &Path) -> Result<CachedDecoder, RuntimeError> {
        let session = runtime.create_session(file)?;
        let past: Vec<CacheTensor> =
            session.inputs().iter().filter_map(parse_cache_tensor).collect();
        let logits = || OutputSelector::no_default().with("logits");
        let all = past.iter().fold(logits(), |outputs, it| outputs.with(&it.output));
        let growing = past.iter().filter(|it| it.is_growing);
        let growing = growing.fold(logits(), |outputs, it| outputs.with(&it.output));
        let begin = RunOptions::new()?.with_outputs(all);
        let go_on = RunOptions::new()?.with_outputs(growing);
        Ok(CachedDecoder { session, past, begin, go_on })
    }

    /// Processes the first tokens with the encoder's output.
    pub(super) fn decode_first(
        &mut self,
        states: &DynValue,
        tokens: &[i64],
    ) -> Result<(TokenLogits, DecoderCache), RuntimeError> {
        let inputs = first_inputs(&self.past, states, tokens)?;
        let mut outputs = self.session.run_with_options(inputs, &self.begin)?;
        let logits = read_logits(&outputs["logits"])?;
        let cache = self.past.iter().filter_map(|it| outputs.remove(&it.output)).collect();
        Ok((logits, DecoderCache(cache)))
    }

    /// Processes one more token.
    pub(super) fn decode_next(
        &mut self,
        states: &DynValue,
        token: i64,
        cache: &mut DecoderCache,
    ) -> Result<TokenLogits, RuntimeError> {
        let mut inputs = base_inputs(states, &[token], true)?;
        for (past, value) in self.past.iter().zip(&cache.0) {
            inputs.push((Cow::Borrowed(&past.input), SessionInputValue::from(value)));
        }
        let mut outputs = self.session.run_with_options(inputs, &self.go_on)?;
        let logits = read_logits(&outputs["logits"])?;
        for (past, value) in self.past.iter().zip(&mut cache.0).filter(|(it, _)| it.is_growing) {
            if let Some(grown) = outputs.remove(&past.output) {
                *value = grown;
            }
        }
        Ok(logits)
    }

    /// Processes all tokens again and returns the cross-attention of the given layers.
    pub(super) fn cross_attention(
        &mut self,
        states: &DynValue,
        tokens: &[i64],
        layers: &[usize],
    ) -> Result<Vec<CrossAttention>, RuntimeError> {
        let names: Vec<String> = layers.iter().map(|it| format!("cross_attentions.{it}")).collect();
        let selected = names.iter().fold(OutputSelector::no_default(), |it, name| it.with(name));
        let options = RunOptions::new()?.with_outputs(selected);
        let inputs = first_inputs(&self.past, states, tokens)?;
        let outputs = self.session.run_with_options(inputs, &options)?;
        let mut attention = Vec::with_capacity(names.len());
        for name in &names {
            let (shape, values) = outputs[name.as_str()].try_extract_tensor::<f32>()?;
            let size = |axis: usize| usize::try_from(shape[axis]).unwrap_or(0);
            let values = values.to_vec();
            attention.push(CrossAttention {
                heads: size(1),
                rows: size(2),
                frames: size(3),
                values,
            });
        }
        Ok(attention)
    }
}

impl TokenLogits {
    /// Logits after the input token `index`.
    pub(super) fn after_token(&self, index: usize) -> &[f32] {
        &self.values[index * self.vocabulary..][..self.vocabulary]
    }

    /// Logits after the last input token.
    pub(super) fn last(&self) -> &[f32] {
        &self.values[self.values.len() - self.vocabulary..]
    }
}

impl CrossAttention {
    pub(super) fn head(&self, head: usize) -> &[f32] {
        &self.values[head * self.rows * self.frames..][..self.rows * self.frames]
    }
}

/// Samples a token at this temperature; at 0 returns the most likely one.
pub(super) fn sample_token(logits: &[f32], temperature: f32, random: &mut fastrand::Rng) -> i64 {
    let best = logits.iter().enumerate().max_by(|(_, one), (_, other)| one.total_cmp(other));
    let Some((likeliest, highest)) = best else { return 0 };
    if temperature <= 0.0 {
        return likeliest as i64;
    }
    let weight = |logit: &f32| ((logit - highest) / temperature).exp();
    let mut left = random.f32() * logits.iter().map(weight).sum::<f32>();
    for (token, logit) in logits.iter().enumerate() {
        left -= weight(logit);
        if left < 0.0 {
            return token as i64;
        }
    }
    // Reached only through rounding errors.
    likeliest as i64
}

/// If the text ends in the same few tokens over and over (a decoding failure), removes the
/// repetitions but one and returns true.
pub(super) fn cut_loop(tokens: &mut Vec<i64>) -> bool {
    const PERIOD_MAX: usize = 16;
    const TOKENS_MIN: usize = 12;
    const REPEATS_MIN: usize = 4;
    for period in 1..=PERIOD_MAX {
        let length = (period * REPEATS_MIN).max(TOKENS_MIN);
        let Some(start) = tokens.len().checked_sub(length) else {
            continue;
        };
        let tail = &tokens[start..];
        let is_loop = tail.iter().zip(&tail[period..]).all(|(one, other)| one == other);
        if is_loop {
            tokens.truncate(start + period);
            return true;
        }
    }
    false
}

type DecoderInputs<'i, 'v> = Vec<(Cow<'i, str>, SessionInputValue<'v>)>;

fn first_inputs<'a>(
    past: &'a [CacheTensor],
    states: &'a DynValue,
    tokens: &[i64],
) -> Result<DecoderInputs<'a, 'a>, RuntimeError> {
    let mut inputs = base_inputs(states, tokens, false)?;
    for past in past {
        let empty = Tensor::<f32>::from_array(([1, past.heads, 0, past.width], Vec::new()))?;
        inputs.push((Cow::Borrowed(&past.input), empty.into()));
    }
    Ok(inputs)
}

fn base_inputs<'a>(
    states: &'a DynValue,
    tokens: &[i64],
    is_cached: bool,
) -> Result<DecoderInputs<'a, 'a>, RuntimeError> {
    let tokens = Tensor::from_array(([1, tokens.len()], tokens.to_vec()))?;
    let branch = Tensor::from_array(([1], vec![is_cached]))?;
    Ok(vec![
        (Cow::Borrowed("input_ids"), tokens.into()),
        (Cow::Borrowed("encoder_hidden_states"), states.into()),
        (Cow::Borrowed("use_cache_branch"), branch.into()),
    ])
}

fn parse_cache_tensor(input: &ort::value::Outlet) -> Option<CacheTensor> {
    let suffix = input.name().strip_prefix("past_key_values.")?;
    let ValueType::Tensor { shape, .. } = input.dtype() else {
        return None;
    };
    Some(CacheTensor {
        input: input.name().to_owned(),
        output: format!("present.{suffix}"),
        heads: usize::try_from(*shape.get(1)?).ok()?,
        width: usize::try_from(*shape.get(3)?).ok()?,
        is_growing: suffix.contains(".decoder."),
    })
}

fn read_logits(output: &DynValue) -> Result<TokenLogits, RuntimeError> {
    let (shape, values) = output.try_extract_tensor::<f32>()?;
    let vocabulary = usize::try_from(shape[2]).unwrap_or(0);
    Ok(TokenLogits { values: values.to_vec(), vocabulary })
}
