//! The end of the usage table: the numbers of new rows, and the batched indexing by owner.

use rusqlite::{Connection, params};

/// The most rows without an index row. A query scans them up to twice: about a millisecond. A
/// larger bound makes charges cheaper and queries slower.
const UNPLACED_ROWS_MAX: i64 = 8192;

#[derive(Debug, Default)]
pub(crate) struct UsageTail {
    known: Option<UsageTailState>,
}

#[derive(Debug, Clone, Copy)]
struct UsageTailState {
    last_seq: i64,
    placed_through: i64,
}

impl UsageTail {
    /// The number of the next row. Numbers only grow, even if all rows were pruned: readers of the
    /// history continue from the last one they saw.
    pub(crate) fn next_seq(&mut self, connection: &Connection) -> rusqlite::Result<i64> {
        let mut tail = self.read(connection)?;
        tail.last_seq += 1;
        self.known = Some(tail);
        Ok(tail.last_seq)
    }

    /// Indexes rows by owner once there are many.
    pub(crate) fn place_if_long(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        let Some(tail) = self.known else { return Ok(()) };
        if tail.last_seq - tail.placed_through < UNPLACED_ROWS_MAX {
            return Ok(());
        }
        let place = "INSERT INTO usage_place (owner, at_ms, seq, currency) \
                     SELECT owner, at_ms, seq, currency FROM usage WHERE ?1 < seq \
                     ORDER BY owner, at_ms, seq";
        connection.prepare_cached(place)?.execute([tail.placed_through])?;
        let note = "UPDATE usage_placed SET through_seq = ?1";
        connection.prepare_cached(note)?.execute([tail.last_seq])?;
        self.known = Some(UsageTailState { placed_through: tail.last_seq, ..tail });
        Ok(())
    }

    /// Clears the cached numbers after a rollback.
    pub(crate) fn forget(&mut self) {
        self.known = None;
    }

    fn read(&self, connection: &Connection) -> rusqlite::Result<UsageTailState> {
        if let Some(tail) = self.known {
            return Ok(tail);
        }
        let sql = "SELECT max(through_seq, coalesce((SELECT max(seq) FROM usage), 0)), through_seq \
                   FROM usage_placed";
        connection.prepare_cached(sql)?.query_row(params![], |row| {
            Ok(UsageTailState { last_seq: row.get(0)?, placed_through: row.get(1)? })
        })
    }
}
