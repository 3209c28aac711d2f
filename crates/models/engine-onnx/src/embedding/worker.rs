//! The thread that owns a model and computes the queued inputs in batches.

use std::collections::VecDeque;
use std::io;
use std::sync::mpsc::{Receiver, SyncSender};
use std::thread::{self, JoinHandle};

use super::batch;
use super::bert::BertEncoder;

/// The inputs of one request, as tokens.
pub(super) struct EmbeddingTask {
    pub(super) inputs: Vec<Vec<i32>>,
    pub(super) reply: SyncSender<Result<Vec<Vec<f32>>, String>>,
}

/// A request in progress.
struct OpenEmbeddingTask {
    number: u64,
    vectors: Vec<Vec<f32>>,
    missing: usize,
    reply: SyncSender<Result<Vec<Vec<f32>>, String>>,
}

/// A queued input.
struct QueuedInput {
    task: u64,
    index: usize,
    tokens: Vec<i32>,
}

/// State of the thread. Every queued input belongs to an open request.
struct EmbeddingWorker {
    bert: BertEncoder,
    open: Vec<OpenEmbeddingTask>,
    waiting: VecDeque<QueuedInput>,
    jobs_begun: u64,
}

/// Starts the thread; it ends when all senders are dropped.
pub(super) fn start_worker(
    bert: BertEncoder,
    queue: Receiver<EmbeddingTask>,
) -> io::Result<JoinHandle<()>> {
    let worker =
        EmbeddingWorker { bert, open: Vec::new(), waiting: VecDeque::new(), jobs_begun: 0 };
    thread::Builder::new().name("embedding".to_owned()).spawn(move || worker.run(&queue))
}

impl EmbeddingWorker {
    fn run(mut self, queue: &Receiver<EmbeddingTask>) {
        loop {
            if self.waiting.is_empty() {
                let Ok(task) = queue.recv() else {
                    return;
                };
                self.begin_task(task);
            }
            // Requests that arrived meanwhile join the next batch.
            while let Ok(task) = queue.try_recv() {
                self.begin_task(task);
            }
            self.run_batch();
        }
    }

    fn begin_task(&mut self, task: EmbeddingTask) {
        self.jobs_begun += 1;
        let number = self.jobs_begun;
        let inputs = task.inputs.len();
        let waiting = task.inputs.into_iter().enumerate();
        self.waiting.extend(waiting.map(|(index, tokens)| QueuedInput {
            task: number,
            index,
            tokens,
        }));
        let vectors = vec![Vec::new(); inputs];
        self.open.push(OpenEmbeddingTask { number, vectors, missing: inputs, reply: task.reply });
    }

    /// Computes one batch and answers the requests that it completes.
    fn run_batch(&mut self) {
        let lengths: Vec<usize> = self.waiting.iter().map(|it| it.tokens.len()).collect();
        let picked = batch::pick_inputs(&lengths);
        let mut chosen = Vec::with_capacity(picked.len());
        for index in picked.into_iter().rev() {
            chosen.extend(self.waiting.remove(index));
        }
        let tokens: Vec<&[i32]> = chosen.iter().map(|it| it.tokens.as_slice()).collect();
        match self.bert.embed(&tokens) {
            Ok(vectors) => {
                for (waiting, vector) in chosen.into_iter().zip(vectors) {
                    self.deliver_vector(&waiting, vector);
                }
            }
            Err(error) => {
                for waiting in &chosen {
                    self.fail_task(waiting.task, &error.to_string());
                }
            }
        }
    }

    fn deliver_vector(&mut self, waiting: &QueuedInput, vector: Vec<f32>) {
        let Some(position) = self.open.iter().position(|it| it.number == waiting.task) else {
            return;
        };
        let open = &mut self.open[position];
        open.vectors[waiting.index] = vector;
        open.missing -= 1;
        if open.missing == 0 {
            let done = self.open.swap_remove(position);
            // Fails only if the requester is gone.
            let _ = done.reply.send(Ok(done.vectors));
        }
    }

    fn fail_task(&mut self, task: u64, cause: &str) {
        self.waiting.retain(|it| it.task != task);
        if let Some(position) = self.open.iter().position(|it| it.number == task) {
            let failed = self.open.swap_remove(position);
            let _ = failed.reply.send(Err(cause.to_owned()));
        }
    }
}
