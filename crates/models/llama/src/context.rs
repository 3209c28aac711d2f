//! A model's context: the prompt cache, and the logits of the next tokens.

use std::ptr::NonNull;

use crate::TokenId;
use crate::bindings::{
    LLAMA_FLASH_ATTN_TYPE_AUTO, LLAMA_FLASH_ATTN_TYPE_DISABLED, llama_batch, llama_context,
    llama_memory_t,
};
use crate::model::LlamaModel;

/// Parameters of a context.
#[derive(Debug, Clone, Copy)]
pub struct ContextSettings {
    /// Total of all sequences; each has an equal share.
    pub context_tokens: u32,
    pub sequences: u32,
    /// Maximum tokens per batch.
    pub batch_tokens_max: u32,
    pub threads: u32,
}

/// For one thread only: the library computes one batch at a time in a context.
#[derive(Debug)]
pub struct LlamaContext<'m> {
    model: &'m LlamaModel,
    raw: NonNull<llama_context>,
    memory: llama_memory_t,
    settings: ContextSettings,
}

/// Errors of computing a batch, from the library's status codes.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    #[error("the batch does not fit into the prompt cache")]
    Full,
    #[error("the computation was aborted")]
    Aborted,
    #[error("the library rejected the batch as invalid")]
    Invalid,
    #[error("the library failed with {0}")]
    Failed(i32),
}

/// Tokens to compute together, each with its position and sequence.
#[derive(Debug, Default)]
pub struct TokenBatch {
    tokens: Vec<i32>,
    positions: Vec<i32>,
    sequences: Vec<i32>,
    wants_logits: Vec<i8>,
}

impl TokenBatch {
    pub fn clear(&mut self) {
        self.tokens.clear();
        self.positions.clear();
        self.sequences.clear();
        self.wants_logits.clear();
    }

    pub fn add_token(&mut self, token: TokenId, position: i32, sequence: i32, wants_logits: bool) {
        self.tokens.push(token.0);
        self.positions.push(position);
        self.sequences.push(sequence);
        self.wants_logits.push(i8::from(wants_logits));
    }
}

impl<'m> LlamaContext<'m> {
    /// Allocates the context; `None` if there is not enough memory.
    #[expect(unsafe_code, reason = "calls into the library")]
    pub fn new(model: &'m LlamaModel, settings: ContextSettings) -> Option<LlamaContext<'m>> {
        let functions = model.functions();
        let threads = i32::try_from(settings.threads).unwrap_or(1).max(1);
        // SAFETY: takes no arguments and returns plain values.
        let mut parameters = unsafe { functions.llama_context_default_params() };
        parameters.n_ctx = settings.context_tokens;
        parameters.n_seq_max = settings.sequences;
        // Each sequence has its own part of the cache and attends only to it.
        parameters.kv_unified = false;
        parameters.n_batch = settings.batch_tokens_max;
        parameters.n_ubatch = settings.batch_tokens_max;
        parameters.n_threads = threads;
        parameters.n_threads_batch = threads;
        // On CPUs flash attention gains little for prompts and loses much for answers. On GPUs it
        // gains, and the library knows which of them support it.
        parameters.flash_attn_type = if model.gpu_layers() == 0 {
            LLAMA_FLASH_ATTN_TYPE_DISABLED
        } else {
            LLAMA_FLASH_ATTN_TYPE_AUTO
        };
        parameters.no_perf = true;
        // SAFETY: the model outlives the context, which borrows it.
        let raw = unsafe { functions.llama_init_from_model(model.raw(), parameters) };
        let raw = NonNull::new(raw)?;
        // SAFETY: the context was just created; its memory is a part of it.
        let memory = unsafe { functions.llama_get_memory(raw.as_ptr()) };
        Some(LlamaContext { model, raw, memory, settings })
    }

    /// Sets the number of threads that compute the next batches.
    #[expect(unsafe_code, reason = "calls into the library")]
    pub fn set_threads(&mut self, threads: u32) {
        let threads = i32::try_from(threads).unwrap_or(1).max(1);
        // SAFETY: the context is ours alone, and computes nothing now.
        unsafe {
            self.model.functions().llama_set_n_threads(self.raw.as_ptr(), threads, threads);
        }
    }

    /// Processes the tokens of a batch.
    #[expect(unsafe_code, reason = "calls into the library")]
    pub fn decode(&mut self, batch: &mut TokenBatch) -> Result<(), DecodeError> {
        let count = batch.tokens.len();
        let sequences = i32::try_from(self.settings.sequences).unwrap_or(0);
        let is_sound = batch.sequences.iter().all(|it| (0..sequences).contains(it))
            && usize::try_from(self.settings.batch_tokens_max).is_ok_and(|most| count <= most);
        let tokens = i32::try_from(count).ok().filter(|it| 0 < *it && is_sound);
        let Some(n_tokens) = tokens else { return Err(DecodeError::Invalid) };
        let mut counts = vec![1_i32; count];
        let mut sequences: Vec<*mut i32> =
            batch.sequences.iter_mut().map(std::ptr::from_mut).collect();
        let raw = llama_batch {
            n_tokens,
            token: batch.tokens.as_mut_ptr(),
            embd: std::ptr::null_mut(),
            pos: batch.positions.as_mut_ptr(),
            n_seq_id: counts.as_mut_ptr(),
            seq_id: sequences.as_mut_ptr(),
            logits: batch.wants_logits.as_mut_ptr(),
        };
        // SAFETY: every array has `n_tokens` entries and lives through the call; each token names
        // one sequence of this context. The library checks the tokens themselves.
        let outcome = unsafe { self.model.functions().llama_decode(self.raw.as_ptr(), raw) };
        match outcome {
            0 => Ok(()),
            1 => Err(DecodeError::Full),
            2 => Err(DecodeError::Aborted),
            -1 => Err(DecodeError::Invalid),
            other => Err(DecodeError::Failed(other)),
        }
    }

    /// Logits after a row of the last batch; `None` if they were not requested.
    #[expect(unsafe_code, reason = "reads the library's memory")]
    pub fn logits(&mut self, row: usize) -> Option<&[f32]> {
        let row = i32::try_from(row).ok()?;
        // SAFETY: the library checks the row, and returns null for one without logits.
        let logits = unsafe { self.model.functions().llama_get_logits_ith(self.raw.as_ptr(), row) };
        let logits = NonNull::new(logits)?;
        // SAFETY: there are as many logits as the vocabulary has tokens. They are valid until the
        // next batch, for which this borrow must have ended.
        Some(unsafe { std::slice::from_raw_parts(logits.as_ptr(), self.model.vocabulary_size()) })
    }

    /// Removes a sequence's tokens from a position on; false if the model can only remove all of
    /// them.
    #[expect(unsafe_code, reason = "calls into the library")]
    pub fn remove_tokens(&mut self, sequence: i32, from: u32) -> bool {
        const TO_THE_END: i32 = -1;
        let from = i32::try_from(from).unwrap_or(i32::MAX);
        let is_ours = u32::try_from(sequence).is_ok_and(|it| it < self.settings.sequences);
        if self.memory.is_null() || !is_ours {
            return false;
        }
        // SAFETY: the memory belongs to this context, and the sequence is one of its own.
        unsafe {
            self.model.functions().llama_memory_seq_rm(self.memory, sequence, from, TO_THE_END)
        }
    }
}

impl Drop for LlamaContext<'_> {
    #[expect(unsafe_code, reason = "calls into the library")]
    fn drop(&mut self) {
        // SAFETY: this is the only owner, and no borrow is left.
        unsafe { self.model.functions().llama_free(self.raw.as_ptr()) }
    }
}
