//! Statements that delete rows with those that belong to them.

use moment::Timestamp;

use crate::columns::to_row_limit;
use crate::statements::{SqlStatements, values};

/// Deletes ended jobs, except those whose media still exists: the row is needed to find it.
const DROP_ENDED: &str = "WITH ended AS (SELECT job.id, job.media FROM job \
    LEFT JOIN media ON job.media = media.id \
    WHERE NOT job.is_open AND job.done_ms < $1 \
    AND (media.id IS NULL OR media.state = 'DELETED') ORDER BY job.done_ms LIMIT $2), \
    gone AS (DELETE FROM job WHERE id IN (SELECT id FROM ended)) \
    DELETE FROM media WHERE id IN (SELECT media FROM ended)";

const DROP_GONE: &str = "WITH gone AS (SELECT file.id FROM file \
    JOIN media ON media.id = file.id WHERE media.state = 'DELETED' LIMIT $1), \
    dropped AS (DELETE FROM file WHERE id IN (SELECT id FROM gone)) \
    DELETE FROM media WHERE id IN (SELECT id FROM gone)";

/// Deletes the oldest rows, which have about the lowest sequence numbers.
const PRUNE_USAGE: &str = "DELETE FROM usage WHERE seq IN (SELECT seq FROM \
    (SELECT seq, at_ms FROM usage ORDER BY seq LIMIT $2) AS oldest WHERE at_ms < $1)";

pub(crate) fn delete_ended_jobs(
    statements: &mut SqlStatements<'_>,
    before: Timestamp,
    rows_max: usize,
) {
    statements.add(DROP_ENDED, values![before.ms(), to_row_limit(rows_max)]);
}

/// Deletes files whose content was deleted.
pub(crate) fn delete_gone_files(statements: &mut SqlStatements<'_>, rows_max: usize) {
    statements.add(DROP_GONE, values![to_row_limit(rows_max)]);
}

pub(crate) fn prune_usage(statements: &mut SqlStatements<'_>, before: Timestamp, rows_max: usize) {
    statements.add(PRUNE_USAGE, values![before.ms(), to_row_limit(rows_max)]);
}
