//! Small builders of rows, which keep the checks short.

use domain::access::{KeyKind, ModelPrivacy};
use domain::secret::SecretDigest;
use ledger_core::{
    EntryId, HoldId, JournalRecord, KeyId, LedgerAccount, LedgerTransfer, LimitPeriod, LotKey,
    LotTag, OwnerId, PaymentNetwork, SystemAccount, SystemKind, TransferCode,
};
use moment::Timestamp;
use money::{BalanceCurrency, Nano, Price, PriceUnits};
use uuid::Uuid;

use crate::Store;
use crate::error::StoreError;
use crate::key::{ApiKey, KeySettings};
use crate::owner::{Owner, OwnerKind};
use crate::usage::{UsageDetails, UsageRow};
use crate::write::{StoreWrite, WriteGroup};

pub const DAY_MS: i64 = 86_400_000;
/// 2026-11-15, as a day since 1970.
pub const TODAY: i64 = 20_772;

pub fn today_at(ms: i64) -> Timestamp {
    Timestamp::from_ms(TODAY * DAY_MS + ms)
}

pub fn owner_id(number: u8) -> OwnerId {
    OwnerId(Uuid::from_bytes([number; 16]))
}

pub fn key_id(number: u8) -> KeyId {
    KeyId(Uuid::from_bytes([number | 0x80; 16]))
}

pub fn entry_id(number: u128) -> EntryId {
    EntryId(Uuid::from_u128(number))
}

pub fn hold_id(number: u128) -> HoldId {
    HoldId(Uuid::from_u128(number))
}

pub fn build_owner(number: u8) -> Owner {
    Owner {
        id: owner_id(number),
        kind: OwnerKind::Account,
        name: format!("owner-{number}"),
        tier: "default".into(),
        created: today_at(0),
        frozen: None,
    }
}

/// A key of the owner with the same number.
pub fn build_key(number: u8) -> ApiKey {
    ApiKey {
        id: key_id(number),
        owner: owner_id(number),
        digest: SecretDigest([number; 32]),
        last6: "abcdef".into(),
        kind: KeyKind::Inference,
        settings: KeySettings {
            description: format!("key {number}"),
            limit_usd: Some(Nano::from_units(5)),
            limit_diem: None,
            limit_period: LimitPeriod::Month,
            expires: None,
            model_privacy: ModelPrivacy::All,
        },
        created: today_at(0),
        last_used: None,
        revoked: None,
    }
}

pub fn add_key(key: ApiKey) -> StoreWrite {
    StoreWrite::AddKey { key, active_keys_max: 500 }
}

pub fn build_lot(number: u8) -> LotKey {
    LotKey { owner: owner_id(number), currency: BalanceCurrency::Usd, tag: LotTag::Main }
}

pub fn lot_opened(lot: LotKey) -> StoreWrite {
    StoreWrite::Journal(JournalRecord::LotOpened { lot, opened_at: today_at(0), expires_at: None })
}

pub fn build_system_account(kind: SystemKind) -> LedgerAccount {
    LedgerAccount::System(SystemAccount { currency: BalanceCurrency::Usd, kind })
}

pub fn build_cash_account() -> LedgerAccount {
    build_system_account(SystemKind::Cash(
        PaymentNetwork::parse("base").expect("base is a network name"),
    ))
}

pub fn top_up(entry: u128, lot: LotKey, nanos: i64) -> LedgerTransfer {
    LedgerTransfer {
        entry: entry_id(entry),
        leg: 0,
        debit: build_cash_account(),
        credit: LedgerAccount::Lot(lot),
        amount: Nano::from_nanos(nanos),
        code: TransferCode::TopUp,
        at: today_at(0),
        key: None,
    }
}

pub fn build_charge(entry: u128, lot: LotKey, nanos: i64) -> LedgerTransfer {
    LedgerTransfer {
        debit: LedgerAccount::Lot(lot),
        credit: build_system_account(SystemKind::Revenue),
        code: TransferCode::Charge,
        ..top_up(entry, lot, nanos)
    }
}

pub fn record_transfer(transfer: LedgerTransfer) -> StoreWrite {
    StoreWrite::Journal(JournalRecord::Transfer(transfer))
}

pub fn build_usage_row(number: u8, time: Timestamp, nanos: i64) -> UsageRow {
    UsageRow {
        charge: entry_id(9),
        owner: owner_id(number),
        key: Some(key_id(number)),
        at: time,
        sku: "llama-output-mtoken".into(),
        model: "llama".into(),
        currency: BalanceCurrency::Usd,
        units: 227,
        price: Price::from_picos(2_800_000).expect("a price is not negative"),
        per: PriceUnits::Million,
        amount: Nano::from_nanos(nanos),
        details: UsageDetails {
            request_id: "0a1b".into(),
            prompt_tokens: Some(12),
            completion_tokens: Some(227),
            execution_ms: Some(340),
            cached_tokens: None,
            session: None,
        },
        notes: "API Inference".into(),
    }
}

/// Owner and key with the given number, and one dollar in the owner's main lot.
pub async fn add_funded_owner(store: &dyn Store, number: u8) {
    let writes = vec![
        StoreWrite::AddOwner(build_owner(number)),
        add_key(build_key(number)),
        lot_opened(build_lot(number)),
        record_transfer(top_up(u128::from(number) << 64, build_lot(number), 1_000_000_000)),
    ];
    commit_writes(store, writes).await;
}

#[track_caller]
pub fn commit_writes(store: &dyn Store, writes: Vec<StoreWrite>) -> impl Future<Output = ()> {
    let commit = store.commit(WriteGroup { writes });
    async move { commit.await.expect("the group should be written") }
}

pub async fn expect_refusal(store: &dyn Store, writes: Vec<StoreWrite>) -> StoreError {
    store.commit(WriteGroup { writes }).await.expect_err("the group should be refused")
}
