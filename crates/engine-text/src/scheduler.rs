//! The model's thread: processes prompts and generates answers concurrently, batch by batch.

mod plan;
mod slot;

use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::thread::JoinHandle;

use llama::{Batch, Context, ContextSettings, Token};
use tokio::sync::OwnedSemaphorePermit;

use self::plan::Share;
use self::slot::Slot;
use crate::idle_threads::IdleThreads;
use crate::weights::{LoadError, Settings, Weights};
use crate::writer::{Next, Writer};

/// Maximum tokens per batch.
pub(crate) const BATCH_TOKENS_MAX: usize = 512;

/// One choice of one request.
#[derive(Debug)]
pub(crate) struct ChoiceTask {
    pub(crate) prompt: Vec<Token>,
    pub(crate) cache_key: Option<String>,
    pub(crate) writer: Writer,
    /// Permit of the limit on queued and running choices.
    pub(crate) _room: OwnedSemaphorePermit,
}

/// Starts the thread and waits until the model has allocated its memory.
pub(crate) fn start(
    weights: Arc<Weights>,
    settings: &Settings,
    context_tokens: u32,
    queue: Receiver<ChoiceTask>,
) -> Result<JoinHandle<()>, LoadError> {
    let parallel = settings.parallel.max(1);
    let context_settings = context_settings(settings, parallel, context_tokens);
    let idle_threads =
        settings.adapts_threads.then(|| IdleThreads::up_to(context_settings.threads));
    let (ready, started) = sync_channel(1);
    let run = move || match Context::new(&weights.model, context_settings) {
        Some(mut context) => {
            try_out(&weights, &mut context);
            // The starter of the thread waits for this.
            let _ = ready.send(Ok(()));
            let scheduler = Scheduler::new(&weights, context, parallel, context_tokens);
            Scheduler { idle_threads, ..scheduler }.run(&queue);
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
fn try_out(weights: &Weights, context: &mut Context<'_>) {
    let Some(token) = weights.model.begin().or(weights.model.end()) else { return };
    if weights.model.gpu_layers() == 0 {
        return;
    }
    let mut batch = Batch::default();
    batch.add(token, 0, 0, true);
    if let Err(error) = context.decode(&mut batch) {
        tracing::warn!("the first token was not computed: {error}");
    }
    context.forget(0, 0);
}

fn context_settings(settings: &Settings, parallel: u32, context_tokens: u32) -> ContextSettings {
    ContextSettings {
        context_tokens: context_tokens.saturating_mul(parallel),
        sequences: parallel,
        batch_tokens_max: u32::try_from(BATCH_TOKENS_MAX).unwrap_or(u32::MAX),
        threads: u32::try_from(settings.threads).unwrap_or(1),
    }
}

struct Scheduler<'a> {
    weights: &'a Weights,
    context: Context<'a>,
    batch: Batch,
    /// None where the operator has set the number of threads.
    idle_threads: Option<IdleThreads>,
    slots: Vec<Slot>,
    waiting: std::collections::VecDeque<ChoiceTask>,
    /// Counts started requests, to find the least recently used slot.
    begun: u64,
}

impl<'a> Scheduler<'a> {
    fn new(
        weights: &'a Weights,
        context: Context<'a>,
        parallel: u32,
        context_tokens: u32,
    ) -> Scheduler<'a> {
        let capacity = usize::try_from(context_tokens).unwrap_or(usize::MAX);
        let slots = (0..i32::try_from(parallel).unwrap_or(1)).map(|it| Slot::new(it, capacity));
        Scheduler {
            weights,
            context,
            batch: Batch::default(),
            idle_threads: None,
            slots: slots.collect(),
            waiting: std::collections::VecDeque::new(),
            begun: 0,
        }
    }

    /// Runs until all requests are done and all senders are dropped.
    fn run(mut self, queue: &Receiver<ChoiceTask>) {
        loop {
            let may_come = self.take_in(queue);
            self.begin_waiting();
            self.drop_abandoned();
            let is_busy = self.slots.iter().any(|slot| slot.work.is_some());
            if is_busy {
                self.turn();
            } else if !may_come {
                return;
            }
        }
    }

    /// Receives queued tasks. Blocks only if idle; returns false if the channel is closed.
    fn take_in(&mut self, queue: &Receiver<ChoiceTask>) -> bool {
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
            let Some(index) = slot::choose(&self.slots, &task.prompt, task.cache_key.as_deref())
            else {
                self.waiting.push_front(task);
                return;
            };
            self.begun += 1;
            let kept = self.slots[index].common_with(&task.prompt);
            let kept = self.keep(index, kept);
            self.slots[index].begin(task, kept, self.begun);
        }
    }

    /// Truncates a slot's cache to its first tokens. Some models can only clear it entirely.
    fn keep(&mut self, index: usize, tokens: usize) -> usize {
        let sequence = self.slots[index].sequence;
        let from = u32::try_from(tokens).unwrap_or(0);
        if self.context.forget(sequence, from) {
            return tokens;
        }
        self.forget(index);
        0
    }

    fn forget(&mut self, index: usize) {
        // Clearing everything cannot fail.
        self.context.forget(self.slots[index].sequence, 0);
        self.slots[index].read.clear();
    }

    fn drop_abandoned(&mut self) {
        for slot in &mut self.slots {
            if slot.work.as_ref().is_some_and(|task| task.writer.is_abandoned()) {
                slot.end();
            }
        }
    }

    /// Processes one batch: parts of prompts, and one token of every answer.
    fn turn(&mut self) {
        let shares = plan::shares(self.slots.iter().map(Slot::ahead), BATCH_TOKENS_MAX);
        if let Err(cause) = self.compute(&shares) {
            tracing::error!("llama.cpp could not compute a batch: {cause}");
            self.fail(&shares, &cause);
            return;
        }
        let mut row = 0;
        for share in shares {
            row += share.tokens;
            let is_read = self.slots[share.slot].advance(share.tokens);
            if is_read {
                self.write(share.slot, row - 1);
            }
        }
    }

    fn compute(&mut self, shares: &[Share]) -> Result<(), String> {
        self.batch.clear();
        for share in shares {
            let slot = &self.slots[share.slot];
            for (position, token, is_last) in slot.next(share.tokens) {
                self.batch.add(token, position, slot.sequence, is_last);
            }
        }
        if let Some(idle_threads) = &mut self.idle_threads {
            self.context.set_threads(idle_threads.choose());
        }
        self.context.decode(&mut self.batch).map_err(|error| error.to_string())
    }

    fn write(&mut self, index: usize, row: usize) {
        let slot = &mut self.slots[index];
        let Some(task) = &mut slot.work else { return };
        let Some(logits) = self.context.logits(row) else {
            task.writer.fail("the library told no likelihoods");
            slot.end();
            return;
        };
        match task.writer.step(logits, self.weights) {
            Next::Token(token) => slot.say(crate::weights::of_number(token)),
            Next::Done => slot.end(),
        }
    }

    /// The cache contents after a failed batch are unknown, so they are discarded.
    fn fail(&mut self, shares: &[Share], cause: &str) {
        for share in shares {
            if let Some(task) = &self.slots[share.slot].work {
                task.writer.fail(cause);
            }
            self.slots[share.slot].end();
            self.forget(share.slot);
        }
    }
}
