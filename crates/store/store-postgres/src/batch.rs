//! One transaction of the writer: the check of the node's epoch, the batch number, and the
//! statements of its groups, all sent before the first is answered.

use std::time::Duration;

use store::error::StoreError;
use store::write::WriteGroup;
use tokio::time::timeout;
use tokio_postgres::types::ToSql;

use crate::changes::{CHANGES_MAX, CHANNEL, ChangeNotice};
use crate::error::PgError;
use crate::node::{FENCE, NodeIdentity};
use crate::posting::{CacheUpdates, PostingBuilder, WriterCache};
use crate::pulse::DatabasePulse;
use crate::session::{PostgresSession, run_pipelined};
use crate::snapshot::DRAWING_LOCK;
use crate::statements::{SqlStatement, SqlStatements, Value, values};

/// Timeout of a batch, longer than one takes on a healthy database. A connection that is silent for
/// longer is taken to be lost, even if others still work.
const ANSWER_MAX: Duration = Duration::from_secs(6);

/// Inserts the row of this batch; a duplicate if the batch was committed before. Waits for a
/// transaction with the same number that is still in progress, so its outcome is known when this is
/// answered.
const MARK: &str = "INSERT INTO batch (node, epoch, number) VALUES ($1, $2, $3)";

/// Deletes the rows of batches whose outcome is known.
const UNMARK: &str = "DELETE FROM batch WHERE node = $1 AND epoch = $2 AND number = ANY ($3)";

const LOCK_DRAWING: &str = "SELECT pg_advisory_xact_lock_shared($1)";

const NOTIFY: &str = "SELECT pg_notify($1, $2)";

/// The reason why a transaction was not committed.
#[derive(Debug)]
pub(crate) enum BatchFailure {
    /// The writes of one group are at fault, or those of several together.
    Refused { group: Option<usize>, error: StoreError },
    /// No group is at fault, and all fail.
    All(StoreError),
    /// A batch with this number was committed: this one, before the connection was lost.
    DoneBefore,
    /// It conflicted with another transaction, and can be retried.
    Collided(String),
    /// The connection was lost. If `is_unknown`, the batch may have been committed.
    Lost { is_unknown: bool, cause: String },
}

pub(crate) struct WriteBatch<'a> {
    statements: Vec<SqlStatement<'a>>,
    learnt: CacheUpdates,
}

impl<'a> WriteBatch<'a> {
    /// `settled` are the numbers of batches whose outcome is known.
    pub(crate) fn new(
        node: NodeIdentity,
        number: i64,
        settled: &'a [i64],
        groups: impl Iterator<Item = &'a WriteGroup>,
        memory: &WriterCache,
    ) -> Result<WriteBatch<'a>, BatchFailure> {
        let mut posting = PostingBuilder::new(node);
        for (place, group) in groups.enumerate() {
            posting
                .add(place, group)
                .map_err(|error| BatchFailure::Refused { group: Some(place), error })?;
        }
        let (posted, learnt) =
            posting.finish(memory).map_err(|error| BatchFailure::Refused { group: None, error })?;
        let mut all = SqlStatements::default();
        all.add(MARK, values![node.id, node.epoch, number]);
        all.add_one(FENCE, values![node.id, node.epoch], StoreError::Fenced);
        all.add(LOCK_DRAWING, values![DRAWING_LOCK]);
        if !settled.is_empty() {
            all.add(UNMARK, values![node.id, node.epoch, settled]);
        }
        let SqlStatements { statements, changes, .. } = posted;
        all.statements.extend(statements);
        let is_much = CHANGES_MAX < changes.len();
        let told = if is_much { [ChangeNotice::All].into() } else { changes };
        for change in told {
            all.add(NOTIFY, values![CHANNEL, change.payload()]);
        }
        Ok(WriteBatch { statements: all.statements, learnt })
    }

    /// Runs the batch: `Ok` if it is committed and durable, with the values to cache. Cancelled as
    /// soon as the database is known to be down: nothing is written before the commit is sent.
    pub(crate) async fn run(
        self,
        session: &PostgresSession,
        pulse: &DatabasePulse,
    ) -> Result<CacheUpdates, BatchFailure> {
        let lost = |cause: &str| BatchFailure::Lost { is_unknown: false, cause: cause.to_owned() };
        let posted = await_answer(pulse, send_statements(session, &self.statements)).await;
        match posted.unwrap_or_else(|| Err(lost("no answer in time"))) {
            Ok(()) => {}
            Err(BatchFailure::DoneBefore) => {
                return roll_back(session).await.map(|()| self.learnt);
            }
            Err(undone @ BatchFailure::Lost { .. }) => return Err(undone),
            Err(undone) => {
                roll_back(session).await?;
                return Err(undone);
            }
        }
        match await_answer(pulse, session.end_transaction("COMMIT")).await {
            Some(Ok(())) => Ok(self.learnt),
            Some(Err(PgError::Lost(cause))) => Err(BatchFailure::Lost { is_unknown: true, cause }),
            // The server answered that it did not commit.
            Some(Err(error)) => Err(classify_failure(error, None)),
            None => {
                Err(BatchFailure::Lost { is_unknown: true, cause: "no answer in time".to_owned() })
            }
        }
    }
}

/// The answer; None if it times out, or the database is down.
async fn await_answer<T>(pulse: &DatabasePulse, answer: impl Future<Output = T>) -> Option<T> {
    tokio::select! {
        biased;
        answer = timeout(ANSWER_MAX, answer) => answer.ok(),
        () = pulse.wait_until_lost() => None,
    }
}

async fn roll_back(session: &PostgresSession) -> Result<(), BatchFailure> {
    session.end_transaction("ROLLBACK").await.map_err(|error| BatchFailure::Lost {
        is_unknown: false,
        cause: StoreError::from(error).to_string(),
    })
}

/// Sends everything up to the commit, and checks the answers in order.
async fn send_statements(
    session: &PostgresSession,
    statements: &[SqlStatement<'_>],
) -> Result<(), BatchFailure> {
    let sql: Vec<&str> = statements.iter().map(|it| it.sql).collect();
    let prepared =
        session.prepare_all(&sql).await.map_err(|error| classify_failure(error, None))?;
    // `BEGIN` is not prepared, and sent first.
    session.note_transaction();
    let begin = session.client().batch_execute("BEGIN");
    let sent = prepared.iter().zip(statements).map(|(prepared, statement)| async move {
        let values = statement.values.iter().map(borrow_value);
        session.client().execute_raw(prepared, values).await
    });
    let (begun, answers) = in_order(begin, run_pipelined(sent)).await;
    begun.map_err(|error| classify_failure(error.into(), None))?;
    for (statement, answer) in statements.iter().zip(answers) {
        let rows = answer.map_err(|error| classify_failure(error.into(), statement.group))?;
        if let Some(expected) = &statement.expected
            && expected.rows != rows
        {
            let error = expected.otherwise.clone();
            return Err(match error {
                StoreError::Fenced => BatchFailure::All(error),
                error => BatchFailure::Refused { group: statement.group, error },
            });
        }
    }
    Ok(())
}

fn borrow_value<'v>(value: &'v Value<'_>) -> &'v (dyn ToSql + Sync) {
    &**value
}

/// Polls both, the first one first.
async fn in_order<A: Future, B: Future>(first: A, second: B) -> (A::Output, B::Output) {
    tokio::join!(biased; first, second)
}

fn classify_failure(error: PgError, group: Option<usize>) -> BatchFailure {
    match error {
        PgError::Lost(cause) => BatchFailure::Lost { is_unknown: false, cause },
        PgError::Collided(cause) => BatchFailure::Collided(cause),
        PgError::BatchDone => BatchFailure::DoneBefore,
        PgError::Refused(error @ (StoreError::Full | StoreError::Fenced)) => {
            BatchFailure::All(error)
        }
        PgError::Refused(error) => BatchFailure::Refused { group, error },
        PgError::Aborted => {
            BatchFailure::All(StoreError::Failed("the transaction was undone before".to_owned()))
        }
    }
}
