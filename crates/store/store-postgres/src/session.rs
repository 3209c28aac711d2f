//! One connection to the database, and its prepared statements.

use std::collections::HashMap;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::task::Poll;

use futures_util::TryStreamExt;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Row, Statement};

use crate::error::PgError;

/// Capacity of the statement cache, which is cleared when full: lists of characters have many forms
/// of statements.
const STATEMENTS_CACHED_MAX: usize = 256;

pub(crate) type Values<'a> = &'a [&'a (dyn ToSql + Sync)];

pub(crate) struct PostgresSession {
    client: Client,
    statements: Mutex<HashMap<String, Statement>>,
    is_in_transaction: AtomicBool,
    /// Set when a query on the connection was cancelled.
    is_spoilt: AtomicBool,
}

impl PostgresSession {
    pub(crate) fn new(client: Client) -> PostgresSession {
        PostgresSession {
            client,
            statements: Mutex::default(),
            is_in_transaction: AtomicBool::new(false),
            is_spoilt: AtomicBool::new(false),
        }
    }

    /// Marks the connection as not reusable: it owes an answer that may never come.
    pub(crate) fn mark_unusable(&self) {
        self.is_spoilt.store(true, Ordering::SeqCst);
    }

    /// True if the connection is open, outside a transaction and owes no answer.
    pub(crate) fn is_reusable(&self) -> bool {
        !self.client.is_closed()
            && !self.is_in_transaction.load(Ordering::SeqCst)
            && !self.is_spoilt.load(Ordering::SeqCst)
    }

    pub(crate) async fn rows(&self, sql: &str, values: Values<'_>) -> Result<Vec<Row>, PgError> {
        let statement = self.prepare_cached(sql).await?;
        Ok(self.client.query(&statement, values).await?)
    }

    pub(crate) async fn row(&self, sql: &str, values: Values<'_>) -> Result<Option<Row>, PgError> {
        Ok(self.rows(sql, values).await?.into_iter().next())
    }

    /// The row of a query that always has exactly one.
    pub(crate) async fn single_row(&self, sql: &str, values: Values<'_>) -> Result<Row, PgError> {
        let statement = self.prepare_cached(sql).await?;
        Ok(self.client.query_one(&statement, values).await?)
    }

    pub(crate) async fn execute(&self, sql: &str, values: Values<'_>) -> Result<u64, PgError> {
        let statement = self.prepare_cached(sql).await?;
        Ok(self.client.execute(&statement, values).await?)
    }

    /// Calls `take` with each row as it arrives, for results that are too large to keep.
    pub(crate) async fn for_each_row(
        &self,
        sql: &str,
        values: Values<'_>,
        mut take: impl FnMut(&Row) -> Result<(), PgError>,
    ) -> Result<(), PgError> {
        let statement = self.prepare_cached(sql).await?;
        let rows = self.client.query_raw(&statement, values.iter().copied()).await?;
        let mut rows = std::pin::pin!(rows);
        while let Some(row) = rows.try_next().await? {
            take(&row)?;
        }
        Ok(())
    }

    /// Runs statements without parameters, which are not prepared.
    pub(crate) async fn run(&self, sql: &str) -> Result<(), PgError> {
        Ok(self.client.batch_execute(sql).await?)
    }

    /// Sends all statements before it waits for any answer, and returns the first error.
    pub(crate) async fn run_all(&self, all: &[&str]) -> Result<(), PgError> {
        let sent = all.iter().map(|sql| self.client.batch_execute(sql));
        for outcome in run_pipelined(sent).await {
            outcome?;
        }
        Ok(())
    }

    pub(crate) async fn prepare_cached(&self, sql: &str) -> Result<Statement, PgError> {
        if let Some(statement) = self.find_statement(sql) {
            return Ok(statement);
        }
        let statement = self.client.prepare(sql).await?;
        self.cache_statement(sql, &statement);
        Ok(statement)
    }

    /// The prepared statements of a batch, in order. New ones are prepared all at once.
    pub(crate) async fn prepare_all(&self, batch: &[&str]) -> Result<Vec<Statement>, PgError> {
        let mut prepared: HashMap<&str, Statement> = HashMap::new();
        let mut unknown: Vec<&str> = Vec::new();
        for sql in batch {
            if prepared.contains_key(sql) || unknown.contains(sql) {
                continue;
            }
            match self.find_statement(sql) {
                Some(statement) => drop(prepared.insert(sql, statement)),
                None => unknown.push(sql),
            }
        }
        let answers = run_pipelined(unknown.iter().map(|sql| self.client.prepare(sql))).await;
        for (sql, answer) in unknown.into_iter().zip(answers) {
            let statement = answer?;
            self.cache_statement(sql, &statement);
            prepared.insert(sql, statement);
        }
        Ok(batch.iter().filter_map(|sql| prepared.get(sql).cloned()).collect())
    }

    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    /// Begins a transaction. Until [`PostgresSession::end_transaction`] the connection is not reusable.
    pub(crate) async fn begin_transaction(&self, how: &str) -> Result<(), PgError> {
        self.is_in_transaction.store(true, Ordering::SeqCst);
        self.run(how).await
    }

    /// Ends the transaction with `COMMIT` or `ROLLBACK`.
    pub(crate) async fn end_transaction(&self, how: &str) -> Result<(), PgError> {
        self.run(how).await?;
        self.is_in_transaction.store(false, Ordering::SeqCst);
        Ok(())
    }

    /// Records that the caller begins a transaction with its own statement.
    pub(crate) fn note_transaction(&self) {
        self.is_in_transaction.store(true, Ordering::SeqCst);
    }

    fn cache_statement(&self, sql: &str, statement: &Statement) {
        let mut statements = self.statements.lock().unwrap_or_else(PoisonError::into_inner);
        if STATEMENTS_CACHED_MAX <= statements.len() {
            statements.clear();
        }
        statements.insert(sql.to_owned(), statement.clone());
    }

    fn find_statement(&self, sql: &str) -> Option<Statement> {
        let statements = self.statements.lock().unwrap_or_else(PoisonError::into_inner);
        statements.get(sql).cloned()
    }
}

/// Runs statements so that each is sent before the first is answered: a statement is sent when its
/// future is first polled, and the answers come in the same order.
pub(crate) async fn run_pipelined<F: Future>(
    statements: impl IntoIterator<Item = F>,
) -> Vec<F::Output> {
    let mut under_way: Vec<PipelinedStatement<F>> = statements
        .into_iter()
        .map(|statement| PipelinedStatement::Waits(Box::pin(statement)))
        .collect();
    poll_fn(|context| {
        for sent in &mut under_way {
            if let PipelinedStatement::Waits(statement) = sent
                && let Poll::Ready(output) = statement.as_mut().poll(context)
            {
                *sent = PipelinedStatement::Done(output);
            }
        }
        Poll::Ready(())
    })
    .await;
    let mut outputs = Vec::with_capacity(under_way.len());
    for sent in under_way {
        outputs.push(match sent {
            PipelinedStatement::Waits(statement) => statement.await,
            PipelinedStatement::Done(output) => output,
        });
    }
    outputs
}

enum PipelinedStatement<F: Future> {
    Waits(Pin<Box<F>>),
    Done(F::Output),
}
