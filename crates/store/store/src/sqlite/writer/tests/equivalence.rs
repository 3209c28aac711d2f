//! A store with the charge log and one without it give the same results for the same groups.

use proptest::prelude::*;

use super::*;

#[derive(Debug, Clone)]
enum WriterAction {
    Batch(Vec<WriteGroup>),
    Post,
}

/// Few entries and little money, so that many groups are repeats, or exceed the balance.
fn group() -> impl Strategy<Value = WriteGroup> {
    let entry = 1..60_u128;
    let nanos = prop_oneof![4 => 1..200_000_000_i64, 1 => Just(0), 1 => 1..2_000_000_000_000_i64];
    let settles = (entry.clone(), 1..=3_u8, nanos)
        .prop_map(|(entry, number, nanos)| settled(entry, number, nanos));
    let two_legs = (entry.clone(), 1..300_000_000_i64).prop_map(|(entry, nanos)| {
        let mut group = settled(entry, 1, nanos);
        let second = LedgerTransfer { leg: 1, ..build_charge(entry, build_lot(2), nanos / 2) };
        group.writes.push(record_transfer(second));
        group
    });
    let pays_in = (entry, 1..=2_u8).prop_map(|(entry, number)| {
        WriteGroup::from_write(record_transfer(top_up(entry, build_lot(number), 90_000_000)))
    });
    let counts = Just(WriteGroup { writes: settled(1, 1, 5).writes.split_off(1) });
    prop_oneof![8 => settles, 2 => two_legs, 1 => pays_in, 1 => counts, 1 => Just(WriteGroup::default())]
}

fn steps() -> impl Strategy<Value = Vec<WriterAction>> {
    let batch = prop::collection::vec(group(), 1..5);
    let step = prop_oneof![
        8 => batch.prop_map(WriterAction::Batch),
        1 => Just(WriterAction::Post),
    ];
    prop::collection::vec(step, 1..40)
}

fn told(outcomes: Vec<Result<(), StoreError>>) -> Vec<String> {
    outcomes.into_iter().map(|outcome| format!("{outcome:?}")).collect()
}

fn tables(writer: &mut SqliteWriter) -> String {
    writer.post_log();
    let read = writer.session.transact(|connection, _| {
        let usage = "SELECT group_concat(hex(charge) || amount, ' ') FROM \
                     (SELECT charge, amount FROM usage ORDER BY seq)";
        let usage: Option<String> = connection.query_row(usage, [], |row| row.get(0))?;
        let sums = "SELECT sum(amount), sum(row_count), sum(units) FROM usage_daily";
        let sums: [Option<i64>; 3] =
            connection.query_row(sums, [], |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?]))?;
        let books: Vec<String> =
            BOOKS.iter().map(|sql| read_all(connection, sql)).collect::<rusqlite::Result<_>>()?;
        Ok(format!("{books:#?}\n{usage:?}\n{sums:?}"))
    });
    read.unwrap()
}

/// The journal and its sums, without the numbers of accounts.
const BOOKS: [&str; 4] = [
    "SELECT transfer.seq, entry, leg, amount, code, at_ms, key, key_day, key_month, debit.owner, \
     debit.currency, debit.name, credit.owner, credit.currency, credit.name FROM transfer \
     JOIN account AS debit ON debit.id = transfer.debit \
     JOIN account AS credit ON credit.id = transfer.credit ORDER BY transfer.seq",
    "SELECT owner, currency, name, opened_ms, expires_ms, is_closed, granted, debits, credits, \
     pending FROM account ORDER BY owner, currency, name",
    "SELECT * FROM allowance ORDER BY owner, kind",
    "SELECT * FROM key_spend ORDER BY key, class",
];

fn read_all(connection: &Connection, sql: &str) -> rusqlite::Result<String> {
    let mut statement = connection.prepare(sql)?;
    let columns = statement.column_count();
    let mut rows = statement.query([])?;
    let mut text = String::new();
    while let Some(row) = rows.next()? {
        for column in 0..columns {
            text += &format!("{:?} ", row.get_ref(column)?);
        }
        text.push('\n');
    }
    Ok(text)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn the_log_changes_neither_what_is_refused_nor_what_is_in_the_tables(steps in steps()) {
        let (one, other) = (directory(), directory());
        let (mut logging, mut plain) = (furnished(&options(&one)), furnished(&options(&other)));
        for step in steps {
            match step {
                WriterAction::Post => logging.post_log(),
                WriterAction::Batch(groups) => {
                    let outcomes = commit(&mut logging, groups.clone());
                    let expected = plain.post_log_and_batch(&waiting(groups));
                    prop_assert_eq!(told(outcomes), told(expected));
                }
            }
        }
        prop_assert_eq!(tables(&mut logging), tables(&mut plain));
    }
}
