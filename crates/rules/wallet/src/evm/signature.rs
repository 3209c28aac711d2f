//! Signatures of a digest: by the key of an address, or possibly by the contract at it.

use alloy_primitives::{B256, Signature, U256};

use crate::address::EvmAddress;
use crate::contract::ContractCheck;

/// Half of the order of secp256k1, rounded down. A larger `s` is the mirrored form of the same
/// signature, and tokens refuse it (EIP-2).
const S_MAX: U256 = U256::from_limbs([
    0xdfe9_2f46_681b_20a0,
    0x5d57_6e73_57a4_501d,
    0xffff_ffff_ffff_ffff,
    0x7fff_ffff_ffff_ffff,
]);

/// The result of checking a signature without the chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SignatureCheck {
    ByKey(KeySignature),
    NeedsContractCheck(ContractCheck),
}

/// A signature that recovers to its signer, with a low `s` and a `v` of 27 or 28.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeySignature {
    pub r: [u8; 32],
    pub s: [u8; 32],
    pub v: u8,
    pub(crate) form: SignatureForm,
}

/// The encoding of a signature. Tokens accept the canonical form only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SignatureForm {
    /// 65 bytes that end in 27 or 28.
    Canonical,
    /// 65 bytes that end in 0 or 1.
    BareParity,
    /// The 64 bytes of EIP-2098.
    Compact,
}

/// Checks a signature. None if it is definitely invalid: empty, mirrored, or with a broken wrapper.
///
/// Any other that does not recover to the signer may be a contract's: contracts choose their own
/// format, and many accept the signature of an owner's key.
pub(crate) fn check_signature(
    digest: [u8; 32],
    signer: EvmAddress,
    bytes: &[u8],
) -> Option<SignatureCheck> {
    if bytes.is_empty() {
        return None;
    }
    if let Some((signature, form)) = parse_signature(bytes) {
        let recovered = signature.recover_address_from_prehash(&B256::from(digest));
        if recovered.is_ok_and(|address| EvmAddress::from(address) == signer) {
            let is_low = signature.s() <= S_MAX;
            return is_low.then(|| SignatureCheck::ByKey(KeySignature::new(&signature, form)));
        }
    }
    ContractCheck::new(signer, digest, bytes).map(SignatureCheck::NeedsContractCheck)
}

fn parse_signature(bytes: &[u8]) -> Option<(Signature, SignatureForm)> {
    if bytes.len() == 64 {
        return Some((Signature::from_erc2098(bytes), SignatureForm::Compact));
    }
    let (v, scalars) = bytes.split_last()?;
    if scalars.len() != 64 {
        return None;
    }
    let (parity, form) = match v {
        27 => (false, SignatureForm::Canonical),
        28 => (true, SignatureForm::Canonical),
        0 => (false, SignatureForm::BareParity),
        1 => (true, SignatureForm::BareParity),
        _ => return None,
    };
    Some((Signature::from_bytes_and_parity(scalars, parity), form))
}

impl KeySignature {
    fn new(signature: &Signature, form: SignatureForm) -> KeySignature {
        KeySignature {
            r: signature.r().to_be_bytes(),
            s: signature.s().to_be_bytes(),
            v: if signature.v() { 28 } else { 27 },
            form,
        }
    }
}
