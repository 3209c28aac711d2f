//! The calls to the token: encodes their input, and decodes what they return.

use alloy_primitives::{B256, U256};
use alloy_sol_types::{SolCall, sol};

use super::authorization::TransferAuthorization;
use super::signature::KeySignature;
use crate::address::EvmAddress;

sol! {
    interface Token {
        function transferWithAuthorization(
            address from,
            address to,
            uint256 value,
            uint256 validAfter,
            uint256 validBefore,
            bytes32 nonce,
            uint8 v,
            bytes32 r,
            bytes32 s
        ) external;

        function transferWithAuthorization(
            address from,
            address to,
            uint256 value,
            uint256 validAfter,
            uint256 validBefore,
            bytes32 nonce,
            bytes signature
        ) external;

        function authorizationState(
            address authorizer,
            bytes32 nonce
        ) external view returns (bool used);

        function DOMAIN_SEPARATOR() external view returns (bytes32 separator);

        function balanceOf(address account) external view returns (uint256 balance);
    }
}

/// Encodes a transfer of a payer that signed with a key. Every EIP-3009 token has this form.
pub(super) fn transfer_by_key(
    authorization: &TransferAuthorization,
    signature: &KeySignature,
) -> Vec<u8> {
    Token::transferWithAuthorization_0Call {
        from: authorization.from.inner(),
        to: authorization.to.inner(),
        value: authorization.value,
        validAfter: authorization.valid_after,
        validBefore: authorization.valid_before,
        nonce: B256::from(authorization.nonce),
        v: signature.v,
        r: B256::from(signature.r),
        s: B256::from(signature.s),
    }
    .abi_encode()
}

/// Encodes a transfer of a payer whose contract verifies the signature.
pub(super) fn transfer_by_contract(
    authorization: &TransferAuthorization,
    signature: &[u8],
) -> Vec<u8> {
    Token::transferWithAuthorization_1Call {
        from: authorization.from.inner(),
        to: authorization.to.inner(),
        value: authorization.value,
        validAfter: authorization.valid_after,
        validBefore: authorization.valid_before,
        nonce: B256::from(authorization.nonce),
        signature: signature.to_vec().into(),
    }
    .abi_encode()
}

/// Encodes the query if an authorization was used or cancelled; see [`returned_flag`].
pub fn authorization_state_call(authorization: &TransferAuthorization) -> Vec<u8> {
    let authorizer = authorization.from.inner();
    let nonce = B256::from(authorization.nonce);
    Token::authorizationStateCall { authorizer, nonce }.abi_encode()
}

/// Encodes the query of the domain for authorizations; see [`super::domain_separator`].
pub fn domain_call() -> Vec<u8> {
    Token::DOMAIN_SEPARATORCall {}.abi_encode()
}

/// Encodes the query of an account's balance; see [`returned_word`].
pub fn balance_call(account: EvmAddress) -> Vec<u8> {
    Token::balanceOfCall { account: account.inner() }.abi_encode()
}

/// Decodes a returned boolean. None if it is not one: an account without code returns nothing.
pub fn returned_flag(returned: &[u8]) -> Option<bool> {
    match returned_word(returned)? {
        U256::ZERO => Some(false),
        U256::ONE => Some(true),
        _ => None,
    }
}

/// Decodes a returned number.
pub fn returned_word(returned: &[u8]) -> Option<U256> {
    let word: [u8; 32] = returned.try_into().ok()?;
    Some(U256::from_be_bytes(word))
}
