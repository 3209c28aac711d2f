//! Checks if the journal has an entry, mostly without a query.
//!
//! Ids of charges grow with time, so nearly every new one falls between the same two neighbours in
//! the journal: the newest posted charge and the next entry after it, if any. Only the writer adds
//! to the journal, and only the writer asks here, so that gap stays empty until the log is posted.

use ledger_core::{EntryId, LedgerTransfer};
use rusqlite::{Connection, OptionalExtension, params};
use uuid::Uuid;

/// Two entries with none between them in the journal. The default, with the bounds swapped, covers
/// nothing.
#[derive(Debug, Clone, Copy)]
pub(crate) struct JournalGap {
    after: EntryId,
    before: EntryId,
}

impl Default for JournalGap {
    fn default() -> JournalGap {
        JournalGap { after: EntryId(Uuid::max()), before: EntryId(Uuid::nil()) }
    }
}

impl JournalGap {
    /// True if the journal has a transfer of this entry and leg.
    pub(crate) fn is_posted(
        &mut self,
        connection: &Connection,
        transfer: &LedgerTransfer,
    ) -> rusqlite::Result<bool> {
        if self.contains(transfer.entry) {
            return Ok(false);
        }
        let sql = "SELECT EXISTS (SELECT 1 FROM transfer WHERE entry = ?1 AND leg = ?2)";
        let key = params![transfer.entry.0.as_bytes(), transfer.leg];
        let is_posted = connection.prepare_cached(sql)?.query_row(key, |row| row.get(0))?;
        // A slow charge is beyond the gap; the next ones are within the new gap.
        if self.before <= transfer.entry {
            self.find_after(connection, transfer.entry)?;
        }
        Ok(is_posted)
    }

    /// Narrows the gap after these entries were added to the journal.
    pub(crate) fn fill(&mut self, entries: impl Iterator<Item = EntryId>) {
        let gap = *self;
        if let Some(newest) = entries.filter(|entry| gap.contains(*entry)).max() {
            self.after = newest;
        }
    }

    fn contains(&self, entry: EntryId) -> bool {
        self.after < entry && entry < self.before
    }

    /// Finds the gap after an entry, which may or may not be in the journal.
    fn find_after(&mut self, connection: &Connection, entry: EntryId) -> rusqlite::Result<()> {
        let sql = "SELECT entry FROM transfer WHERE ?1 < entry ORDER BY entry LIMIT 1";
        let next = connection
            .prepare_cached(sql)?
            .query_row([entry.0.as_bytes()], |row| row.get(0).map(Uuid::from_bytes))
            .optional()?;
        *self = JournalGap { after: entry, before: EntryId(next.unwrap_or(Uuid::max())) };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::conformance::fixture::{build_charge, build_lot, entry_id};

    fn journal() -> Connection {
        let journal = Connection::open_in_memory().unwrap();
        journal.execute_batch("CREATE TABLE transfer (entry BLOB, leg INTEGER)").unwrap();
        journal
    }

    fn post(journal: &Connection, entry: u128) {
        let sql = "INSERT INTO transfer VALUES (?1, 0)";
        journal.execute(sql, [entry_id(entry).0.as_bytes()]).unwrap();
    }

    #[derive(Debug, Clone)]
    enum GapAction {
        Ask(u128),
        Fill(Vec<u128>),
        Forget(u128),
    }

    fn step() -> impl Strategy<Value = GapAction> {
        let entry = 1..40_u128;
        prop_oneof![
            8 => entry.clone().prop_map(GapAction::Ask),
            3 => prop::collection::vec(entry.clone(), 0..5).prop_map(GapAction::Fill),
            1 => entry.prop_map(GapAction::Forget),
        ]
    }

    proptest! {
        #[test]
        fn it_says_what_the_journal_says(steps in prop::collection::vec(step(), 1..60)) {
            let (journal, mut gap) = (journal(), JournalGap::default());
            let mut posted = std::collections::BTreeSet::new();
            for step in steps {
                match step {
                    GapAction::Ask(entry) => {
                        let asked = build_charge(entry, build_lot(1), 1);
                        let told = gap.is_posted(&journal, &asked).unwrap();
                        prop_assert_eq!(told, posted.contains(&entry));
                    }
                    GapAction::Fill(entries) => {
                        entries.iter().for_each(|entry| post(&journal, *entry));
                        gap.fill(entries.iter().map(|entry| entry_id(*entry)));
                        posted.extend(entries);
                    }
                    GapAction::Forget(entry) => {
                        post(&journal, entry);
                        posted.insert(entry);
                        gap = JournalGap::default();
                    }
                }
            }
        }
    }

    #[test]
    fn entries_that_grow_are_told_without_a_question() {
        let (journal, mut gap) = (journal(), JournalGap::default());
        post(&journal, 1_000);
        assert!(!gap.is_posted(&journal, &build_charge(10, build_lot(1), 1)).unwrap());
        journal.execute_batch("DROP TABLE transfer").unwrap();
        for entry in 11..999 {
            assert!(!gap.is_posted(&journal, &build_charge(entry, build_lot(1), 1)).unwrap());
            gap.fill([entry_id(entry)].into_iter());
        }
        assert!(gap.is_posted(&journal, &build_charge(998, build_lot(1), 1)).is_err());
        assert!(gap.is_posted(&journal, &build_charge(1_001, build_lot(1), 1)).is_err());
    }
}
