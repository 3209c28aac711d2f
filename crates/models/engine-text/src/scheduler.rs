//! The model's thread: processes prompts and generates answers concurrently, batch by batch.

mod plan;
mod slot;

use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::thread::JoinHandle;

use llama::{ContextSettings, LlamaContext, TokenBatch, TokenId};
use tokio::sync::OwnedSemaphorePermit;

use self::plan::BatchShare;
use self::slot::CacheSlot;
use crate::choice_generator::{ChoiceGenerator, NextStep};
use crate::idle_threads::IdleThreads;
use crate::weights::{LoadError, ModelWeights, TextModelSettings};

/// Maximum tokens per batch.
pub(crate) const BATCH_TOKENS_MAX: usize = 512;

/// One choice of one request.
#[derive(Debug)]
pub(crate) struct ChoiceTask {
    pub(crate) prompt: Vec<TokenId>,
    pub(crate) cache_key: Option<String>,
    pub(crate) writer: ChoiceGenerator,
    /// Permit of the limit on queued and running choices.
    pub(crate) _room: OwnedSemaphorePermit,
}

/// Starts the thread and waits until the model has allocated its memory.
pub(crate) fn start_scheduler(
    weights: Arc<ModelWeights>,
    settings: &TextModelSettings,
    context_tokens: u32,
    queue: Receiver<ChoiceTask>,
) -> Result<JoinHandle<()>, LoadError> {
    let parallel = settings.parallel.max(1);
    let context_settings = context_settings(settings, parallel, context_tokens);
    let idle_threads =
        settings.adapts_threads.then(|| IdleThreads::up_to(context_settings.threads));
    let (ready, started) = sync_channel(1);
    let run = move || match LlamaContext::new(&weights.model, context_settings) {
        Some(mut context) => {
            warm_up(&weights, &mut context);
            // The starter of the thread waits for this.
            let _ = ready.send(Ok(()));
            let scheduler = BatchScheduler::new(&weights, context, parallel, context_tokens);
            BatchScheduler { idle_threads, ..scheduler }.run(&queue);
        }
        None => {
            let _ = ready.send(Err(LoadError::Memory { context_tokens }));
        }
    };
    let spawned = std::thread::Builder::new().name("text-model".to_owned()).spawn(run);
    let thread = spawned.map_err(|error| LoadError::Runtime(error.to_string()))?;
    let started = started.recv().map_err(|error| LoadError::Runtime(error.to_string())).flatten();
    match started {
        Ok(()) => Ok(thread),
        Err(error) => {
            // Waits until the memory is free again for the next attempt.
            let _ = thread.join();
            Err(error)
        }
    }
}

/// Decodes one token while loading: a GPU that cannot compute aborts the process, and the engine
/// process detects crashes only while a model is loading.
fn warm_up(weights: &ModelWeights, context: &mut LlamaContext<'_>) {
    let Some(token) = weights.model.bos_token().or(weights.model.eos_token()) else { return };
    if weights.model.gpu_layers() == 0 {
        return;
    }
    let mut batch = TokenBatch::default();
    batch.add_token(token, 0, 0, true);
    if let Err(error) = context.decode(&mut batch) {
        tracing::warn!("the first token was not computed: {error}");
    }
    context.remove_tokens(0, 0);
}

fn context_settings(
    settings: &TextModelSettings,
    parallel: u32,
    context_tokens: u32,
) -> ContextSettings {
    ContextSettings {
        context_tokens: context_tokens.saturating_mul(parallel),
        sequences: parallel,
        batch_tokens_max: u32::try_from(BATCH_TOKENS_MAX).unwrap_or(u32::MAX),
        threads: u32::try_from(settings.threads).unwrap_or(1),
    }
}

struct BatchScheduler<'a> {
    weights: &'a ModelWeights,
    context: LlamaContext<'a>,
    batch: TokenBatch,
    /// None where the operator has set the number of threads.
    idle_threads: Option<IdleThreads>,
    slots: Vec<CacheSlot>,
    waiting: std::collections::VecDeque<ChoiceTask>,
    /// Counts started requests, to find the least recently used slot.
    begun: u64,
}

impl<'a> BatchScheduler<'a> {
    fn new(
        weights: &'a ModelWeights,
        context: LlamaContext<'a>,
        parallel: u32,
        context_tokens: u32,
    ) -> BatchScheduler<'a> {
        let capacity = usize::try_from(context_tokens).unwrap_or(usize::MAX);
        let slots =
            (0..i32::try_from(parallel).unwrap_or(1)).map(|it| CacheSlot::new(it, capacity));
        BatchScheduler {
            weights,
            context,
            batch: TokenBatch::default(),
            idle_threads: None,
            slots: slots.collect(),
            waiting: std::collections::VecDeque::new(),
            begun: 0,
        }
    }

    /// Runs until all requests are done and all senders are dropped.
    fn run(mut self, queue: &Receiver<ChoiceTask>) {
        loop {
            let may_come = self.receive_tasks(queue);
            self.begin_waiting();
            self.drop_abandoned();
            let is_busy = self.slots.iter().any(|slot| slot.work.is_some());
            if is_busy {
                self.run_batch();
            } else if !may_come {
                return;
            }
        }
    }

    /// Receives queued tasks. Blocks only if idle; returns false if the channel is closed.
    fn receive_tasks(&mut self, queue: &Receiver<ChoiceTask>) -> bool {
        let is_idle = self.waiting.is_empty() && self.slots.iter().all(|it| it.work.is_none());
        if is_idle {
            match queue.recv() {
                Ok(task) => self.waiting.push_back(task),
                Err(_) => return false,
            }
        }
        loop {
            match queue.try_recv() {
                Ok(task) => self.waiting.push_back(task),
                Err(TryRecvError::Empty) => return true,
                Err(TryRecvError::Disconnected) => return false,
            }
        }
    }

    /// Starts tasks in order of arrival while slots are free.
    fn begin_waiting(&mut self) {
        self.waiting.retain(|task| !task.writer.is_abandoned());
        while let Some(task) = self.waiting.pop_front() {
            let Some(index) =
                slot::choose_slot(&self.slots, &task.prompt, task.cache_key.as_deref())
            else {
                self.waiting.push_front(task);
                return;
            };
            self.begun += 1;
            let kept = self.slots[index].common_with(&task.prompt);
            let kept = self.truncate_slot(index, kept);
            self.slots[index].start_task(task, kept, self.begun);
        }
    }

    /// Truncates a slot's cache to its first tokens. Some models can only clear it entirely.
    fn truncate_slot(&mut self, index: usize, tokens: usize) -> usize {
        let sequence = self.slots[index].sequence;
        let from = u32::try_from(tokens).unwrap_or(0);
        if self.context.remove_tokens(sequence, from) {
            return tokens;
        }
        self.clear_slot(index);
        0
    }

    fn clear_slot(&mut self, index: usize) {
        // Clearing everything cannot fail.
        self.context.remove_tokens(self.slots[index].sequence, 0);
        self.slots[index].read.clear();
    }

    fn drop_abandoned(&mut self) {
        for slot in &mut self.slots {
            if slot.work.as_ref().is_some_and(|task| task.writer.is_abandoned()) {
                slot.end_task();
            }
        }
    }

    /// Processes one batch: parts of prompts, and one token of every answer.
    fn run_batch(&mut self) {
        let shares =
            plan::plan_shares(self.slots.iter().map(CacheSlot::next_work), BATCH_TOKENS_MAX);
        if let Err(cause) = self.compute_batch(&shares) {
            tracing::error!("llama.cpp could not compute a batch: {cause}");
            self.fail_slots(&shares, &cause);
            return;
        }
        let mut row = 0;
        for share in shares {
            row += share.tokens;
            let is_read = self.slots[share.slot].advance(share.tokens);
            if is_read {
                self.generate_token(share.slot, row - 1);
            }
        }
    }

    fn compute_batch(&mut self, shares: &[BatchShare]) -> Result<(), String> {
        self.batch.clear();
        for share in shares {
            let slot = &self.slots[share.slot];
            for (position, token, is_last) in slot.next_tokens(share.tokens) {
                self.batch.add_token(token, position, slot.sequence, is_last);
            }
        }
        if let Some(idle_threads) = &mut self.idle_threads {
            self.context.set_threads(idle_threads.choose_count());
        }
        self.context.decode(&mut self.batch).map_err(|error| error.to_string())
    }

    fn generate_token(&mut self, index: usize, row: usize) {
        let slot = &mut self.slots[index];
        let Some(task) = &mut slot.work else { return };
        let Some(logits) = self.context.logits(row) else {
            task.writer.send_failure("the library told no likelihoods");
            slot.end_task();
            return;
        };
        match task.writer.generate_next(logits, self.weights) {
            NextStep::Token(token) => slot.push_token(crate::weights::token_from_number(token)),
            NextStep::Done => slot.end_task(),
        }
    }

    /// The cache contents after a failed batch are unknown, so they are discarded.
    fn fail_slots(&mut self, shares: &[BatchShare], cause: &str) {
        for share in shares {
            if let Some(task) = &self.slots[share.slot].work {
                task.writer.send_failure(cause);
            }
            self.slots[share.slot].end_task();
            self.clear_slot(share.slot);
        }
    }
}
