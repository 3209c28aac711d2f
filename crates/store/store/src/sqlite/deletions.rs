//! Deletes rows with those that belong to them.

use moment::Timestamp;
use rusqlite::{Connection, params};

use crate::sqlite::columns::{read_id, read_optional_id};
use crate::sqlite::write_error::WriteError;

/// Deletes ended jobs, except those whose media still exists: the row is needed to find it.
pub(crate) fn delete_ended_jobs(
    connection: &Connection,
    before: Timestamp,
    rows_max: usize,
) -> Result<(), WriteError> {
    let ended = "SELECT job.id, job.media FROM job LEFT JOIN media ON job.media = media.id \
                 WHERE job.is_open = 0 AND job.done_ms < ?1 \
                 AND (media.id IS NULL OR media.state = 'DELETED') ORDER BY job.done_ms LIMIT ?2";
    let mut statement = connection.prepare_cached(ended)?;
    let rows = statement.query_map(params![before.ms(), rows_max], |row| {
        Ok((read_id(row, 0)?, read_optional_id(row, 1)?))
    })?;
    let ended: Vec<_> = rows.collect::<rusqlite::Result<_>>()?;
    for (job, media) in ended {
        let sql = "DELETE FROM job WHERE id = ?1";
        connection.prepare_cached(sql)?.execute([job.as_bytes()])?;
        if let Some(media) = media {
            let sql = "DELETE FROM media WHERE id = ?1";
            connection.prepare_cached(sql)?.execute([media.as_bytes()])?;
        }
    }
    Ok(())
}

/// Deletes files whose content was deleted.
pub(crate) fn delete_gone_files(
    connection: &Connection,
    rows_max: usize,
) -> Result<(), WriteError> {
    let gone = "SELECT file.id FROM file JOIN media ON media.id = file.id \
                WHERE media.state = 'DELETED' LIMIT ?1";
    let mut statement = connection.prepare_cached(gone)?;
    let rows = statement.query_map([rows_max], |row| read_id(row, 0))?;
    let gone: Vec<_> = rows.collect::<rusqlite::Result<_>>()?;
    for id in gone {
        for sql in ["DELETE FROM file WHERE id = ?1", "DELETE FROM media WHERE id = ?1"] {
            connection.prepare_cached(sql)?.execute([id.as_bytes()])?;
        }
    }
    Ok(())
}

/// Deletes the oldest rows, which have the lowest sequence numbers.
pub(crate) fn prune_usage(
    connection: &Connection,
    before: Timestamp,
    rows_max: usize,
) -> Result<(), WriteError> {
    let before_ms = before.ms();
    let oldest = "SELECT owner, at_ms, seq FROM \
                  (SELECT owner, at_ms, seq FROM usage ORDER BY seq LIMIT ?2) WHERE at_ms < ?1";
    let places = format!("DELETE FROM usage_place WHERE (owner, at_ms, seq) IN ({oldest})");
    connection.prepare_cached(&places)?.execute(params![before_ms, rows_max])?;
    let rows = format!("DELETE FROM usage WHERE seq IN (SELECT seq FROM ({oldest}))");
    connection.prepare_cached(&rows)?.execute(params![before_ms, rows_max])?;
    Ok(())
}
