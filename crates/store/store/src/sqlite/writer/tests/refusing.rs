//! Groups that the tables would refuse are refused, and never acknowledged first.

use super::*;
use crate::usage::UsageRow;

/// Asserts that the tables refuse the group, and accept the valid charge in the same batch.
#[track_caller]
fn expect_refused(writer: &mut SqliteWriter, group: WriteGroup, neighbour: u128, expected: &str) {
    let outcomes = commit(writer, vec![group, settled(1_000 + neighbour, 2, 1)]);
    let error = outcomes[0].clone().unwrap_err();
    assert!(format!("{error:?}").starts_with(expected), "{error:?}");
    assert!(outcomes[1].is_ok(), "{outcomes:?}");
    assert!(writer.log.is_empty());
}

#[test]
fn a_charge_that_the_tables_would_refuse_is_never_acknowledged() {
    let directory = directory();
    let mut writer = furnished(&options(&directory));
    let refused = expect_refused;
    assert!(commit(&mut writer, vec![settled(1, 1, 600_000_000)])[0].is_ok());
    assert_eq!(writer.log.len(), 1);
    refused(&mut writer, settled(2, 1, 400_000_001), 1, "Refused");
    assert!(commit(&mut writer, vec![settled(3, 1, 100_000_000)])[0].is_ok());
    assert_eq!(writer.log.len(), 1);
    refused(&mut writer, settled(3, 1, 1), 2, "Duplicate");
    refused(&mut writer, settled(1, 1, 1), 3, "Duplicate");
    refused(&mut writer, settled(4, 3, 1), 4, "Missing");
    let mut stranger = settled(5, 1, 1);
    let stamp = Some(KeyStamp::at(key_id(9), today_at(0)));
    stranger.writes[0] =
        record_transfer(LedgerTransfer { key: stamp, ..build_charge(5, build_lot(1), 1) });
    refused(&mut writer, stranger, 5, "Refused");
    refused(&mut writer, settled(6, 1, 0), 6, "Refused");
    let mut endless = settled(7, 1, 1);
    endless.writes.push(StoreWrite::AddUsage(UsageRow {
        units: u64::MAX,
        ..build_usage_row(1, today_at(0), 1)
    }));
    refused(&mut writer, endless, 7, "Failed");
    // To the last nano, and no further.
    assert!(commit(&mut writer, vec![settled(8, 1, 300_000_000)])[0].is_ok());
    assert_eq!(writer.log.len(), 1);
    refused(&mut writer, settled(9, 1, 1), 8, "Refused");
}

#[test]
fn a_charge_that_no_sum_can_hold_is_never_acknowledged() {
    let directory = directory();
    let mut writer = furnished(&options(&directory));
    assert!(commit(&mut writer, vec![settled(1, 1, 1)])[0].is_ok());
    writer.post_log();
    let earned = "UPDATE account SET credits = 9223372036854775800 WHERE name = 'revenue'";
    let earn = |connection: &Connection, _: &mut SqliteCaches| Ok(connection.execute(earned, [])?);
    assert_eq!(writer.session.transact(earn).unwrap(), 1);
    writer.log.clear_admission();
    assert!(commit(&mut writer, vec![settled(2, 1, 8)])[0].is_err());
    assert!(writer.log.is_empty());
    assert!(commit(&mut writer, vec![settled(3, 1, 7)])[0].is_ok());
}

#[test]
fn what_others_took_is_not_there_for_a_logged_charge() {
    let directory = directory();
    let mut writer = furnished(&options(&directory));
    assert!(commit(&mut writer, vec![settled(1, 1, 1)])[0].is_ok());
    let tier = StoreWrite::SetTier { owner: owner_id(1), tier: "partner".into() };
    let outcomes =
        commit(&mut writer, vec![WriteGroup::from_write(tier), settled(2, 1, 600_000_000)]);
    assert!(outcomes.iter().all(Result::is_ok));
    expect_refused(&mut writer, settled(3, 1, 400_000_000), 1, "Refused");
    // The same for money that the log has taken, if the tables must be read again before it is
    // posted.
    assert!(commit(&mut writer, vec![settled(4, 1, 300_000_000)])[0].is_ok());
    writer.log.clear_admission();
    expect_refused(&mut writer, settled(5, 1, 100_000_000), 2, "Refused");
}
