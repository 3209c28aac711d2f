//! Runs the jobs, background responses and batches of a [`TestApp`].

use std::sync::Arc;

use api::batch_lines::ApiLineServer;
use batches::LineServer;
use tokio_util::sync::CancellationToken;

use crate::app::TestApp;

impl TestApp {
    /// Runs the due jobs, and waits until they have ended or are postponed.
    pub async fn run_jobs(&self) {
        let stop = CancellationToken::new();
        self.app.jobs.claim_due_jobs(&self.app.tasks, &stop).await.unwrap();
        self.settle_tasks().await;
    }

    /// Runs the background responses that wait, and waits until they have ended.
    pub async fn run_responses(&self) {
        let stop = CancellationToken::new();
        api::response_worker::claim_due(&self.app, &stop).await.unwrap();
        self.settle_tasks().await;
    }

    /// Deletes stored responses and conversations that have expired.
    pub async fn sweep_responses(&self) {
        api::response_worker::sweep_expired(&self.app).await.unwrap();
    }

    /// Takes one turn of every batch that is due, and waits until the turns have ended. Returns their
    /// number.
    pub async fn run_batch_turns(&self) -> usize {
        let server: Arc<dyn LineServer> = Arc::new(ApiLineServer::new(Arc::clone(&self.app)));
        let stop = CancellationToken::new();
        let batches = &self.app.batches;
        let claimed = batches.claim_due_batches(&server, &self.app.tasks, &stop).await.unwrap();
        self.settle_tasks().await;
        claimed
    }

    /// Runs all batches to their end.
    pub async fn run_batches(&self) {
        while 0 < self.run_batch_turns().await {}
    }

    /// Waits for background work that outlives its request.
    pub async fn settle_tasks(&self) {
        self.app.tasks.close();
        self.app.tasks.wait().await;
        self.app.tasks.reopen();
    }
}
