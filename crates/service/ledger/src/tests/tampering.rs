//! Books that were changed directly in the database: each broken invariant is found and named.

use std::time::Duration;

use domain::access::ModelPrivacy;
use expect_test::{Expect, expect};
use ledger_core::{AllowanceKind, HoldId, LimitPeriod};
use moment::Timestamp;
use money::BalanceCurrency;
use rusqlite::Connection;
use store::audit::AuditEntry;
use store::key::KeySettings;
use store::sqlite::database_in;
use store::write::{StoreWrite, WriteGroup};
use uuid::Uuid;

use super::books::busy_world;
use super::fixture::{
    NOON, World, base, cost, entry, exactly, key, nanos, owner, through, wallet, world,
};
use crate::{LedgerJob, verify_books};

/// Allows statements that the schema forbids: constraints, triggers and foreign keys are off.
const UNGUARDED: &str = "PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON; \
    DROP TRIGGER transfer_never_changes; DROP TRIGGER transfer_never_goes; \
    DROP TRIGGER claim_credited_never_changes; DROP TRIGGER audit_never_goes;";

/// Triggers to restore afterwards.
const GUARDED_AGAIN: [&str; 4] = [
    "transfer_never_changes",
    "transfer_never_goes",
    "claim_credited_never_changes",
    "audit_never_goes",
];

/// Runs SQL on the database without its constraints, and restores the schema.
fn tamper(world: &World, sql: &str) {
    let connection = Connection::open(database_in(world.directory.path())).unwrap();
    let definition = "SELECT sql FROM sqlite_schema WHERE name = ?1";
    let triggers = GUARDED_AGAIN.map(|name| -> String {
        connection.query_row(definition, [name], |row| row.get(0)).unwrap()
    });
    connection.execute_batch(UNGUARDED).unwrap();
    connection.execute_batch(sql).unwrap();
    connection.execute_batch(&triggers.join(";")).unwrap();
}

async fn told(world: &World) -> String {
    let report = verify_books(&*world.store).await.unwrap();
    let lines: Vec<String> = report.violations.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

async fn check(world: &World, sql: &str, expected: Expect) {
    assert_eq!(told(world).await, "", "the books are right before");
    tamper(world, sql);
    expected.assert_eq(&told(world).await);
}

#[tokio::test]
async fn i1_i4_i13_a_balance_that_does_not_follow_from_the_journal() {
    let world = busy_world().await;
    let sql = "UPDATE account SET credits = credits + 5 WHERE name = 'main'";
    check(&world, sql, expect![[r#"
        I4 columns are the sum of transfers broken: USD main of 01010101-0101-0101-0101-010101010101: the journal gives debits 10500 and credits 1000000 nano, the row has 10500 and 1000005
        I13 nothing is made or lost broken: USD: 1000000 nano came in; owners have 989505, 10500 is earned and 0 expired
        I1 trial balance broken: USD debits are 1010500 nano and credits 1010505 nano"#]]).await;
    assert_eq!(world.ledger.reconcile().await.unwrap().difference_nano, 5);
}

#[tokio::test]
async fn i1_i9_a_transfer_between_two_currencies() {
    let world = busy_world().await;
    let diem = "INSERT INTO account (currency, name, opened_ms, credits) \
                SELECT 'DIEM', 'revenue', 0, amount FROM transfer WHERE seq = 21; \
                UPDATE account SET credits = credits - (SELECT amount FROM transfer WHERE seq = 21) \
                WHERE name = 'revenue' AND currency = 'USD'; \
                UPDATE transfer SET credit = last_insert_rowid() WHERE seq = 21";
    check(&world, diem, expect![[r#"
        I9 whole and balanced entries broken: entry 01a1df14-1e00-7000-8000-000000000013 leg 0: charge of 0.000001 from USD main of 01010101-0101-0101-0101-010101010101 to DIEM revenue
        I1 trial balance broken: USD is off by 1000 nano
        I1 trial balance broken: DIEM is off by -1000 nano
        I13 nothing is made or lost broken: USD: 1000000 nano came in; owners have 989500, 9500 is earned and 0 expired
        I13 nothing is made or lost broken: DIEM: 0 nano came in; owners have 0, 1000 is earned and 0 expired
        I1 trial balance broken: USD debits are 1010500 nano and credits 1009500 nano"#]]).await;
}

#[tokio::test]
async fn i2_more_spent_than_there_was() {
    let world = busy_world().await;
    let sql = "UPDATE transfer SET amount = 2000000 WHERE seq = 21; \
               UPDATE account SET debits = debits + 1999000 WHERE name = 'main'; \
               UPDATE account SET credits = credits + 1999000 WHERE name = 'revenue'; \
               UPDATE usage SET amount = 2000000 WHERE seq = 20; \
               UPDATE usage_daily SET amount = amount + 1999000; \
               UPDATE key_spend SET day_spent = day_spent + 1999000, \
                   month_spent = month_spent + 1999000, lifetime_spent = lifetime_spent + 1999000";
    check(&world, sql, expect![[r#"
        I2 no overdraft broken: USD main of 01010101-0101-0101-0101-010101010101 after entry 01a1df14-1e00-7000-8000-000000000013
        I6 a charge is its bill broken: row 20 of usage, charge 01a1df14-1e00-7000-8000-000000000013: 1000 units at 1000 pico are 1000 nano, and 2000000 nano were charged
        I2 no overdraft broken: USD main of 01010101-0101-0101-0101-010101010101 has -0.0010095 available, 0 pending"#]]).await;
}

#[tokio::test]
async fn i3_pending_money_that_no_job_holds() {
    let world = busy_world().await;
    let sql = "UPDATE account SET pending = 5 WHERE name = 'main'";
    check(&world, sql, expect!["I3 pending is open holds broken: USD main of 01010101-0101-0101-0101-010101010101: 0.000000005 is pending and jobs hold 0"]).await;
}

#[tokio::test]
async fn i5_a_job_that_was_charged_and_still_holds() {
    let world = busy_world().await;
    let job = LedgerJob { hold: HoldId(Uuid::from_u128(7)), payer: through(1) };
    world.ledger.hold_job(job, exactly(600), Vec::new()).await.unwrap();
    tamper(
        &world,
        "CREATE TABLE kept AS SELECT * FROM job_hold; \
                    CREATE TABLE kept_leg AS SELECT * FROM job_hold_leg",
    );
    world.ledger.settle_job(job, cost(600), Vec::new()).await.unwrap();
    tamper(
        &world,
        "INSERT INTO job_hold SELECT * FROM kept; \
                    INSERT INTO job_hold_leg SELECT * FROM kept_leg; \
                    DROP TABLE kept; DROP TABLE kept_leg; \
                    UPDATE account SET pending = 600 WHERE name = 'main'",
    );
    expect!["I5 a hold ends once broken: hold 00000000-0000-0000-0000-000000000007 is open, and charge 00000000-0000-0000-15d3-8a6cf02b4979 ended it"].assert_eq(&told(&world).await);
}

#[tokio::test]
async fn i6_a_charge_above_its_bill() {
    let world = busy_world().await;
    let sql = "UPDATE usage SET amount = amount - 7 WHERE seq = 20; \
               UPDATE usage_daily SET amount = amount - 7";
    check(&world, sql, expect![[r#"
        I6 a charge is its bill broken: row 20 of usage, charge 01a1df14-1e00-7000-8000-000000000013: 1000 units at 1000 pico are 1000 nano, and 993 nano were charged
        I6 a charge is its bill broken: charge 01a1df14-1e00-7000-8000-000000000013: the journal less its usage is 7 nano USD
        I6 a charge is its bill broken: owner 01010101-0101-0101-0101-010101010101: the journal less the daily sums of usage is 7 nano USD
        I6 a charge is its bill broken: day 2026-11-15: the journal less the daily sums of usage is 7 nano USD"#]]).await;
}

#[tokio::test]
async fn i6_daily_sums_that_do_not_add_up() {
    let world = busy_world().await;
    let sql = "UPDATE usage_daily SET amount = amount + 7";
    check(&world, sql, expect![[r#"
        I6 a charge is its bill broken: owner 01010101-0101-0101-0101-010101010101: the journal less the daily sums of usage is -7 nano USD
        I6 a charge is its bill broken: day 2026-11-15: the journal less the daily sums of usage is -7 nano USD
        I6 a charge is its bill broken: usage of 01010101010101010101010101010101 on 2026-11-15, USD key 81818181818181818181818181818181 llama llama-output-mtoken: its rows are 20 with 10500 units and 10500 nano, its daily sum has 20 with 10500 and 10507"#]]).await;
}

#[tokio::test]
async fn i7_more_given_back_than_was_charged() {
    let world = busy_world().await;
    let hold = world.ledger.hold(wallet(), exactly(600)).unwrap();
    let charge = world.ledger.settle(hold, cost(600)).await.unwrap().charge;
    world.ledger.refund(charge, None, "refund", Vec::new()).await.unwrap();
    let sql = "UPDATE transfer SET amount = amount + 5 WHERE code = 7; \
               UPDATE account SET credits = credits + 5 WHERE name = 'main'; \
               UPDATE account SET debits = debits + 5 WHERE name = 'revenue'; \
               UPDATE usage SET amount = amount - 5 WHERE sku = 'refund'; \
               UPDATE usage_daily SET amount = amount - 5 WHERE sku = 'refund'";
    check(&world, sql, expect![[r#"
        I7 a charge is refunded once broken: charge 01a1df14-1e00-7000-8000-000000000014: 5 nano too much to USD main of 01010101-0101-0101-0101-010101010101
        I6 a charge is its bill broken: row 22 of usage, charge 01a1df14-1e00-7000-8000-000000000014: its request id or another field was changed after it was written"#]]).await;
}

#[tokio::test]
async fn i8_a_counter_of_a_key_that_does_not_follow_from_the_journal() {
    let world = busy_world().await;
    let sql = "UPDATE key_spend SET day_spent = 0";
    check(&world, sql, expect!["I8 key counters broken: the journal gives Some(KeySpendRow { key: KeyId(81818181-8181-8181-8181-818181818181), class: Usd, day: 20772, day_spent: Nano { nanos: 10500 }, month: 682, month_spent: Nano { nanos: 10500 }, lifetime_spent: Nano { nanos: 10500 } }), the counters have KeySpendRow { key: KeyId(81818181-8181-8181-8181-818181818181), class: Usd, day: 20772, day_spent: Nano { nanos: 0 }, month: 682, month_spent: Nano { nanos: 10500 }, lifetime_spent: Nano { nanos: 10500 } }"]).await;
}

#[tokio::test]
async fn i8_a_key_beyond_the_limit_it_had_all_along() {
    let world = busy_world().await;
    let sql = "UPDATE api_key SET limit_usd = 1000, limit_period = 'LIFETIME'";
    check(&world, sql, expect!["I8 key counters broken: key 81818181-8181-8181-8181-818181818181 spent 0.0000105 of USD in its newest LIFETIME, and may spend 0.000001"]).await;
    tamper(
        &world,
        "UPDATE api_key SET limit_period = 'EPOCH', limits_since_ms = limits_since_ms + 1",
    );
    assert_eq!(told(&world).await, "", "the limit came within the day");
    tamper(&world, "UPDATE api_key SET limits_since_ms = limits_since_ms - 86400000");
    assert!(told(&world).await.contains("EPOCH"), "the limit was there before the day");
}

#[tokio::test]
async fn i8_a_limit_that_is_lowered_later_is_not_held_against_a_key() {
    let world = busy_world().await;
    let settings = KeySettings {
        description: "less from now on".into(),
        limit_usd: Some(nanos(1)),
        limit_diem: None,
        limit_period: LimitPeriod::Lifetime,
        expires: None,
        model_privacy: ModelPrivacy::All,
    };
    let at = Timestamp::parse(NOON).unwrap().plus(Duration::from_secs(1));
    let change = StoreWrite::ChangeKey { owner: owner(1), key: key(1), settings, at };
    world.store.commit(WriteGroup::from_write(change)).await.unwrap();
    assert_eq!(told(&world).await, "");
}

#[tokio::test]
async fn i9_an_entry_of_which_a_part_is_gone() {
    let world = world().await;
    world.top_up(1, 100).await;
    let vcu = (BalanceCurrency::Vcu, nanos(100));
    world.ledger.grant(entry(2), owner(1), vcu, None, Vec::new()).await.unwrap();
    let hold = world.ledger.hold(through(1), exactly(150)).unwrap();
    world.ledger.settle(hold, cost(150)).await.unwrap();
    check(&world, "DELETE FROM transfer WHERE leg = 0 AND code = 5", expect![[r#"
        I9 whole and balanced entries broken: entry 01a1df14-1e00-7000-8000-000000000000 has leg 1 where leg 0 belongs
        I8 key counters broken: the journal gives Some(KeySpendRow { key: KeyId(81818181-8181-8181-8181-818181818181), class: Usd, day: 20772, day_spent: Nano { nanos: 50 }, month: 682, month_spent: Nano { nanos: 50 }, lifetime_spent: Nano { nanos: 50 } }), the counters have KeySpendRow { key: KeyId(81818181-8181-8181-8181-818181818181), class: Usd, day: 20772, day_spent: Nano { nanos: 150 }, month: 682, month_spent: Nano { nanos: 150 }, lifetime_spent: Nano { nanos: 150 } }
        I4 columns are the sum of transfers broken: VCU main of 01010101-0101-0101-0101-010101010101: the journal gives debits 0 and credits 100 nano, the row has 100 and 100
        I4 columns are the sum of transfers broken: VCU revenue: the journal gives debits 0 and credits 0 nano, the row has 0 and 100
        I10 everything is there once broken: charge 01a1df14-1e00-7000-8000-000000000000: the journal less its usage is -100 nano VCU
        I6 a charge is its bill broken: owner 01010101-0101-0101-0101-010101010101: the journal less the daily sums of usage is -100 nano VCU
        I6 a charge is its bill broken: day 2026-11-15: the journal less the daily sums of usage is -100 nano VCU"#]]).await;
}

#[tokio::test]
async fn i10_a_charge_that_was_told_of_and_is_gone() {
    let world = busy_world().await;
    let sql = "UPDATE account SET debits = debits - 1000 WHERE name = 'main'; \
               UPDATE account SET credits = credits - 1000 WHERE name = 'revenue'; \
               UPDATE key_spend SET day_spent = day_spent - 1000, \
                   month_spent = month_spent - 1000, lifetime_spent = lifetime_spent - 1000; \
               DELETE FROM transfer WHERE seq = 21";
    check(&world, sql, expect![[r#"
        I10 everything is there once broken: charge 01a1df14-1e00-7000-8000-000000000013: the journal less its usage is -1000 nano USD
        I6 a charge is its bill broken: owner 01010101-0101-0101-0101-010101010101: the journal less the daily sums of usage is -1000 nano USD
        I6 a charge is its bill broken: day 2026-11-15: the journal less the daily sums of usage is -1000 nano USD"#]]).await;
}

#[tokio::test]
async fn i10_a_charge_that_is_there_twice() {
    let world = busy_world().await;
    let sql = "DROP INDEX transfer_once; INSERT INTO transfer SELECT 99, entry, leg, debit, credit, \
               amount, code, at_ms, key, key_day, key_month FROM transfer WHERE seq = 21";
    check(&world, sql, expect![[r#"
        I9 whole and balanced entries broken: entry 01a1df14-1e00-7000-8000-000000000013 has leg 0 where leg 1 belongs
        I8 key counters broken: the journal gives Some(KeySpendRow { key: KeyId(81818181-8181-8181-8181-818181818181), class: Usd, day: 20772, day_spent: Nano { nanos: 11500 }, month: 682, month_spent: Nano { nanos: 11500 }, lifetime_spent: Nano { nanos: 11500 } }), the counters have KeySpendRow { key: KeyId(81818181-8181-8181-8181-818181818181), class: Usd, day: 20772, day_spent: Nano { nanos: 10500 }, month: 682, month_spent: Nano { nanos: 10500 }, lifetime_spent: Nano { nanos: 10500 } }
        I4 columns are the sum of transfers broken: USD main of 01010101-0101-0101-0101-010101010101: the journal gives debits 11500 and credits 1000000 nano, the row has 10500 and 1000000
        I4 columns are the sum of transfers broken: USD revenue: the journal gives debits 0 and credits 11500 nano, the row has 0 and 10500
        I6 a charge is its bill broken: charge 01a1df14-1e00-7000-8000-000000000013: the journal less its usage is 1000 nano USD
        I6 a charge is its bill broken: owner 01010101-0101-0101-0101-010101010101: the journal less the daily sums of usage is 1000 nano USD
        I6 a charge is its bill broken: day 2026-11-15: the journal less the daily sums of usage is 1000 nano USD
        I10 everything is there once broken: index transfer_once is missing
        I10 everything is there once broken: entry 01a1df141e0070008000000000000013 leg 0 is in the journal 2 times"#]]).await;
}

#[tokio::test]
async fn i10_a_database_without_one_of_its_guards() {
    let world = busy_world().await;
    check(
        &world,
        "DROP INDEX account_of_owner",
        expect!["I10 everything is there once broken: index account_of_owner is missing"],
    )
    .await;
}

#[tokio::test]
async fn i11_money_spent_after_it_expired() {
    let world = world().await;
    let expires = Timestamp::parse(NOON).unwrap().plus(Duration::from_secs(3600));
    let vcu = (BalanceCurrency::Vcu, nanos(100));
    world.ledger.grant(entry(2), owner(1), vcu, Some(expires), Vec::new()).await.unwrap();
    let hold = world.ledger.hold(wallet(), exactly(50)).unwrap();
    world.clock.advance(Duration::from_secs(7200));
    // Held in time and settled late, which is allowed.
    world.ledger.settle(hold, cost(50)).await.unwrap();
    let sql = "UPDATE account SET expires_ms = expires_ms - 3600000 WHERE expires_ms IS NOT NULL";
    check(&world, sql, expect!["I11 nothing is spent after expiry broken: entry 01a1df14-1e00-7000-8000-000000000000: charge of VCU grant:00000000-0000-0000-0000-000000000002 of 01010101-0101-0101-0101-010101010101, which expires 2026-11-15T12:00:00.000Z"]).await;
}

#[tokio::test]
async fn i12_cash_that_no_chain_has_settled() {
    let world = busy_world().await;
    world.ledger.top_up(entry(77), owner(1), base(), nanos(5), Vec::new()).await.unwrap();
    expect![[r#"
        I12 cash is what was settled broken: entry 00000000-0000-0000-0000-00000000004d: 0.000000005 came in, and no payment was settled for it
        I12 cash is what was settled broken: what was settled on base less what came in is -5 nano"#]].assert_eq(&told(&world).await);
}

#[tokio::test]
async fn i12_a_settled_payment_that_was_credited_otherwise() {
    let world = busy_world().await;
    check(&world, "UPDATE claim SET credited_nano = credited_nano + 3", expect![[r#"
        I12 cash is what was settled broken: entry 00000000-0000-0000-0000-000000000001: 0.001 came in over base, and 0.001000003 was settled on base
        I12 cash is what was settled broken: what was settled on base less what came in is 3 nano"#]]).await;
    tamper(&world, "UPDATE claim SET entry = zeroblob(16)");
    expect![[r#"
        I12 cash is what was settled broken: entry 00000000-0000-0000-0000-000000000001: 0.001 came in, and no payment was settled for it
        I12 cash is what was settled broken: 0.001000003 was settled on base, and entry 00000000-0000-0000-0000-000000000000 is gone
        I12 cash is what was settled broken: what was settled on base less what came in is 3 nano"#]].assert_eq(&told(&world).await);
}

#[tokio::test]
async fn i14_an_allowance_that_nobody_set() {
    let world = busy_world().await;
    let kind = AllowanceKind::DiemDaily;
    world.ledger.set_allowance(entry(2), owner(1), kind, nanos(500), vec![]).await.unwrap();
    let hold = world.ledger.hold(through(1), exactly(100)).unwrap();
    world.ledger.settle(hold, cost(100)).await.unwrap();
    check(&world, "UPDATE allowance SET amount = 900", expect!["I14 the rows follow from the journal broken: DiemDaily of 01010101-0101-0101-0101-010101010101: 0.0000005 was set and period Some(20772) opened, the row has Some((Nano { nanos: 900 }, Some(20772)))"]).await;
    tamper(&world, "UPDATE allowance SET amount = 500, opened_period = 1");
    expect!["I14 the rows follow from the journal broken: DiemDaily of 01010101-0101-0101-0101-010101010101: 0.0000005 was set and period Some(20772) opened, the row has Some((Nano { nanos: 500 }, Some(1)))"].assert_eq(&told(&world).await);
}

#[tokio::test]
async fn i6_daily_sums_that_are_moved_between_keys_models_or_units() {
    let world = busy_world().await;
    let sql = "UPDATE usage_daily SET model = 'other', units = units + 1";
    assert_eq!(told(&world).await, "");
    tamper(&world, sql);
    let told = told(&world).await;
    assert_eq!(told.matches("I6").count(), 2, "{told}");
    assert!(told.contains("other llama-output-mtoken: its rows are 0 with 0 units"), "{told}");
}

#[tokio::test]
async fn i6_rows_of_usage_that_are_not_where_they_are_looked_for() {
    let world = busy_world().await;
    let sql = "UPDATE usage_placed SET through_seq = 3; \
               INSERT INTO usage_place SELECT owner, at_ms, seq, currency FROM usage \
               WHERE seq IN (1, 2); \
               INSERT INTO usage_place SELECT owner, at_ms, 99, currency FROM usage WHERE seq = 1";
    check(
        &world,
        sql,
        expect![[r#"
        I6 a charge is its bill broken: row 3 of usage is not where its owner's rows are looked for
        I6 a charge is its bill broken: row 99 of usage is looked for where it is not"#]],
    )
    .await;
}

#[tokio::test]
async fn i6_credits_of_the_proxy_that_its_rows_do_not_come_to() {
    let world = busy_world().await;
    let sql = "INSERT INTO rpc_spent SELECT at_ms / 900000, owner, 7 FROM usage WHERE seq = 1";
    check(&world, sql, expect!["I6 a charge is its bill broken: the proxy's credits of 01010101010101010101010101010101 from 2026-11-15 12:00:00: rows of usage come to 0, the sum has 7"]).await;
}

#[tokio::test]
async fn i11_a_lot_whose_row_says_another_expiry_than_its_name() {
    let world = busy_world().await;
    let sql = "UPDATE account SET expires_ms = 5 WHERE name = 'main'";
    assert_eq!(told(&world).await, "");
    tamper(&world, sql);
    let told = told(&world).await;
    assert!(told.contains("never expires, and its row says 1970"), "{told}");
}

#[tokio::test]
async fn i6_a_usage_row_whose_price_does_not_give_its_amount() {
    for change in ["price_pico = price_pico * 2", "price_pico = price_pico + 2000"] {
        let world = busy_world().await;
        assert_eq!(told(&world).await, "");
        tamper(&world, &format!("UPDATE usage SET {change} WHERE seq = 1"));
        let told = told(&world).await;
        assert!(told.starts_with("I6 a charge is its bill broken: row 1 of usage"), "{told}");
        assert_eq!(told.lines().count(), 1, "{told}");
    }
}

/// A statement that changes a field, or a digest, which nothing else in the books depends on.
#[tokio::test]
async fn i6_a_usage_row_that_was_changed_after_it_was_written() {
    for change in [
        "request_id = 'another'",
        "notes = 'another'",
        "prompt_tokens = 1",
        "key = NULL",
        "digest = digest + 1",
    ] {
        let world = busy_world().await;
        assert_eq!(told(&world).await, "");
        tamper(&world, &format!("UPDATE usage SET {change} WHERE seq = 3"));
        let told = told(&world).await;
        let expected = "I6 a charge is its bill broken: row 3 of usage, charge ";
        assert!(told.starts_with(expected), "{change}: {told}");
        assert!(told.lines().next().unwrap().ends_with("changed after it was written"), "{told}");
    }
}

#[tokio::test]
async fn usage_rows_of_earlier_releases_are_counted_and_are_no_fault() {
    let world = busy_world().await;
    assert_eq!(verify_books(&*world.store).await.unwrap().undigested_rows, 0);
    tamper(&world, "UPDATE usage SET digest = NULL WHERE seq <= 7");
    let report = verify_books(&*world.store).await.unwrap();
    assert!(report.is_clean(), "{:?}", report.violations);
    assert_eq!(report.undigested_rows, 7);
}

#[tokio::test]
async fn i10_a_row_of_the_audit_trail_that_is_gone() {
    for seq in 1..=3 {
        let world = busy_world().await;
        for number in 1..=3 {
            let entry = AuditEntry {
                at: Timestamp::parse(NOON).unwrap(),
                actor: "alice".into(),
                action: "accounts credit".into(),
                subject: format!("account {number}"),
                detail: String::new(),
            };
            world.store.commit(WriteGroup::from_write(StoreWrite::AddAudit(entry))).await.unwrap();
        }
        assert_eq!(told(&world).await, "");
        tamper(&world, &format!("DELETE FROM audit WHERE seq = {seq}"));
        let told = told(&world).await;
        assert!(told.contains("the audit trail has 2 rows"), "{told}");
    }
}

#[tokio::test]
async fn a_list_of_violations_that_is_cut_says_how_many_there_are() {
    let world = busy_world().await;
    let rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 150) \
                INSERT INTO transfer (entry, leg, debit, credit, amount, code, at_ms) \
                SELECT randomblob(16), 1, debit, credit, amount, code, at_ms FROM transfer, n \
                WHERE seq = 1";
    tamper(&world, rows);
    let report = verify_books(&*world.store).await.unwrap();
    assert_eq!(report.violations.len(), ledger_core::VIOLATIONS_MAX);
    assert!(150 <= report.violations_total, "{}", report.violations_total);
}

/// Several nodes write the journal: transfers of other entries may stand between those of one.
#[tokio::test]
async fn transfers_of_an_entry_may_stand_apart_but_none_may_be_missing() {
    let world = world().await;
    world.top_up(1, 1_000).await;
    // The part that could not be charged is a second transfer.
    let hold = world.ledger.hold(wallet(), exactly(1_000)).unwrap();
    let charge = world.ledger.settle(hold, cost(5_000)).await.unwrap().charge;
    world.top_up(2, 1_000).await;
    assert_eq!(world.store.find_transfers(charge).await.unwrap().len(), 2);
    let apart = "UPDATE transfer SET seq = seq + 1000 WHERE leg = 1";
    check(&world, apart, expect![[""]]).await;
    let missing = "UPDATE transfer SET leg = 2 WHERE leg = 1";
    tamper(&world, missing);
    let told = told(&world).await;
    assert!(told.starts_with("I9 whole and balanced entries broken"), "{told}");
    assert!(told.contains("has leg 2 where leg 1 belongs"), "{told}");
}
