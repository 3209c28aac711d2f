//! Tests of the format of logged charges: nothing is lost, and invalid bytes are rejected.

use proptest::prelude::*;
use uuid::Uuid;

use super::*;
use crate::conformance::fixture::{
    build_charge, build_lot, build_usage_row, key_id, record_transfer, top_up,
};

fn uuid() -> impl Strategy<Value = Uuid> {
    any::<u128>().prop_map(Uuid::from_u128)
}

fn nano() -> impl Strategy<Value = Nano> {
    any::<i64>().prop_map(Nano::from_nanos)
}

fn time() -> impl Strategy<Value = Timestamp> {
    any::<i64>().prop_map(Timestamp::from_ms)
}

fn currency() -> impl Strategy<Value = BalanceCurrency> {
    prop::sample::select(&BalanceCurrency::ALL[..])
}

fn stamp() -> impl Strategy<Value = KeyStamp> {
    let parts = (uuid(), any::<i64>(), any::<i64>());
    parts.prop_map(|(key, day, month)| KeyStamp { key: KeyId(key), day, month })
}

fn account() -> impl Strategy<Value = LedgerAccount> {
    let tag = prop_oneof![
        Just(LotTag::Main),
        any::<i64>().prop_map(LotTag::Day),
        any::<i64>().prop_map(LotTag::Month),
        uuid().prop_map(|id| LotTag::Grant(EntryId(id))),
        Just(LotTag::Debt),
    ];
    let kind = prop_oneof![
        "[a-z0-9:_-]{1,64}"
            .prop_map(|name| SystemKind::Cash(PaymentNetwork::parse(&name).unwrap())),
        Just(SystemKind::Revenue),
        Just(SystemKind::Expired),
        Just(SystemKind::Issuance),
        Just(SystemKind::Writeoff),
    ];
    let lot = (uuid(), currency(), tag).prop_map(|(owner, currency, tag)| {
        LedgerAccount::Lot(LotKey { owner: OwnerId(owner), currency, tag })
    });
    let system = (currency(), kind)
        .prop_map(|(currency, kind)| LedgerAccount::System(SystemAccount { currency, kind }));
    prop_oneof![lot, system]
}

fn moved() -> impl Strategy<Value = StoreWrite> {
    let sides = (account(), account(), nano());
    let rest = (
        uuid(),
        any::<u16>(),
        prop::sample::select(&TransferCode::ALL[..]),
        time(),
        prop::option::of(stamp()),
    );
    (sides, rest).prop_map(|((debit, credit, amount), (entry, leg, code, at, key))| {
        let entry = EntryId(entry);
        record_transfer(LedgerTransfer { entry, leg, debit, credit, amount, code, at, key })
    })
}

fn spent() -> impl Strategy<Value = StoreWrite> {
    let class = prop::sample::select(&[LimitClass::Usd, LimitClass::Diem][..]);
    (stamp(), class, nano()).prop_map(|(stamp, class, amount)| {
        StoreWrite::Journal(JournalRecord::KeySpent { stamp, class, amount })
    })
}

fn used() -> impl Strategy<Value = StoreWrite> {
    let ids = (uuid(), uuid(), prop::option::of(uuid()), time());
    let texts = (".{0,40}", ".{0,40}", ".{0,40}", ".{0,200}");
    let per =
        prop::sample::select(&[PriceUnits::One, PriceUnits::Thousand, PriceUnits::Million][..]);
    let sums = (currency(), any::<u64>(), 0..=i64::MAX, per, nano());
    let details = prop::array::uniform5(any::<Option<u64>>());
    (ids, texts, sums, details).prop_map(|(ids, texts, sums, details)| {
        let (charge, owner, key, at) = ids;
        let (sku, model, request_id, notes) = texts;
        let (currency, units, picos, per, amount) = sums;
        let [prompt_tokens, completion_tokens, execution_ms, cached_tokens, session] = details;
        StoreWrite::AddUsage(UsageRow {
            charge: EntryId(charge),
            owner: OwnerId(owner),
            key: key.map(KeyId),
            at,
            sku,
            model,
            currency,
            units,
            price: Price::from_picos(picos).unwrap(),
            per,
            amount,
            details: UsageDetails {
                request_id,
                prompt_tokens,
                completion_tokens,
                execution_ms,
                cached_tokens,
                session,
            },
            notes,
        })
    })
}

fn groups() -> impl Strategy<Value = Vec<WriteGroup>> {
    let write = prop_oneof![moved(), spent(), used()];
    let group = prop::collection::vec(write, 1..6).prop_map(|writes| WriteGroup { writes });
    prop::collection::vec(group, 0..5)
}

fn example() -> Vec<WriteGroup> {
    let stamp = KeyStamp { key: key_id(1), day: 20_772, month: 682 };
    let paid = LedgerTransfer { key: Some(stamp), ..build_charge(5, build_lot(1), 250) };
    let amount = Nano::from_nanos(250);
    let counted =
        StoreWrite::Journal(JournalRecord::KeySpent { stamp, class: LimitClass::Usd, amount });
    let line = StoreWrite::AddUsage(build_usage_row(1, Timestamp::from_ms(7), 250));
    vec![WriteGroup { writes: vec![record_transfer(paid), counted, line] }]
}

proptest! {
    #[test]
    fn what_is_decoded_is_what_was_encoded(groups in groups()) {
        let row = encode_groups(groups.iter()).unwrap();
        prop_assert_eq!(format!("{:?}", decode_groups(&row)), format!("{:?}", Ok::<_, RowDecodeError>(groups)));
    }

    #[test]
    fn no_bytes_make_decoding_panic(mut row in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = decode_groups(&row);
        if let Some(version) = row.first_mut() {
            *version = VERSION;
        }
        let _ = decode_groups(&row);
    }
}

#[test]
fn a_row_that_is_cut_short_or_goes_on_is_damaged() {
    let mut row = encode_groups(example().iter()).unwrap();
    for length in 0..row.len() {
        assert_eq!(
            decode_groups(&row[..length]).unwrap_err(),
            RowDecodeError::Damaged,
            "{length} bytes"
        );
    }
    row.push(0);
    assert_eq!(decode_groups(&row).unwrap_err(), RowDecodeError::Damaged);
}

#[test]
fn a_count_that_the_row_cannot_hold_is_damage_and_takes_no_memory() {
    let row = [VERSION, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
    assert_eq!(decode_groups(&row).unwrap_err(), RowDecodeError::Damaged);
}

#[test]
fn a_form_of_a_later_release_is_named() {
    let mut row = encode_groups(example().iter()).unwrap();
    row[0] = VERSION + 1;
    let told = decode_groups(&row).unwrap_err().to_string();
    expect_test::expect![
        "it has form 4, which this release does not know; run the release that wrote it"
    ]
    .assert_eq(&told);
}

#[test]
fn the_form_stays_as_it_is_because_a_later_release_may_find_it() {
    let mut groups = example();
    let mut row = build_usage_row(1, Timestamp::from_ms(7), 250);
    (row.details.cached_tokens, row.details.session) = (Some(9), Some(u64::MAX));
    groups.push(WriteGroup { writes: vec![StoreWrite::AddUsage(row)] });
    let form = hex::encode(encode_groups(groups.iter()).unwrap());
    expect_test::expect!["0302030100000000000000000000000000000005000101010101010101010101010101010101010106f4030580c087c8bb680181818181818181818181818181818181c8c402d40a0281818181818181818181818181818181c8c402d40a01f40303000000000000000000000000000000090101010101010101010101010101010101818181818181818181818181818181810e136c6c616d612d6f75747075742d6d746f6b656e056c6c616d6101e30180e6d50203f4030430613162010c01e30101d40200000d41504920496e666572656e63650103000000000000000000000000000000090101010101010101010101010101010101818181818181818181818181818181810e136c6c616d612d6f75747075742d6d746f6b656e056c6c616d6101e30180e6d50203f4030430613162010c01e30101d402010901ffffffffffffffffff010d41504920496e666572656e6365"].assert_eq(&form);
}

#[test]
fn only_charges_have_a_form() {
    let setting = StoreWrite::PutSetting { name: "name".into(), value: vec![1] };
    for other in [
        WriteGroup::default(),
        WriteGroup { writes: vec![record_transfer(top_up(1, build_lot(1), 1)), setting] },
    ] {
        assert_eq!(encode_groups([&other].into_iter()), None);
    }
}
