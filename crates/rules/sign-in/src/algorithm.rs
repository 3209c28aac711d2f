//! The signature algorithms of ID tokens that are accepted: only asymmetric ones.

use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256,
    RSA_PKCS1_2048_8192_SHA384, RSA_PKCS1_2048_8192_SHA512, RSA_PSS_2048_8192_SHA256,
    RsaParameters, RsaPublicKeyComponents, UnparsedPublicKey,
};

use crate::key_set::KeyMaterial;

/// An algorithm of the allow-list. Those with a shared secret (`HS256`) and `none` are not in it:
/// with them, anyone who knows a public text could sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TokenAlgorithm {
    Rs256,
    Rs384,
    Rs512,
    Ps256,
    Es256,
    Es384,
    EdDsa,
}

impl TokenAlgorithm {
    pub const ALL: [TokenAlgorithm; 7] = [
        TokenAlgorithm::Rs256,
        TokenAlgorithm::Rs384,
        TokenAlgorithm::Rs512,
        TokenAlgorithm::Ps256,
        TokenAlgorithm::Es256,
        TokenAlgorithm::Es384,
        TokenAlgorithm::EdDsa,
    ];

    /// The name in tokens and documents.
    pub const fn name(self) -> &'static str {
        match self {
            TokenAlgorithm::Rs256 => "RS256",
            TokenAlgorithm::Rs384 => "RS384",
            TokenAlgorithm::Rs512 => "RS512",
            TokenAlgorithm::Ps256 => "PS256",
            TokenAlgorithm::Es256 => "ES256",
            TokenAlgorithm::Es384 => "ES384",
            TokenAlgorithm::EdDsa => "EdDSA",
        }
    }

    /// None for algorithms that are not accepted. Names are case-sensitive.
    pub fn parse(name: &str) -> Option<TokenAlgorithm> {
        TokenAlgorithm::ALL.into_iter().find(|it| it.name() == name)
    }

    /// True if keys of this kind make signatures of this algorithm.
    pub(crate) fn fits_key(self, key: &KeyMaterial) -> bool {
        use TokenAlgorithm as Algorithm;
        match key {
            KeyMaterial::Rsa { .. } => matches!(
                self,
                Algorithm::Rs256 | Algorithm::Rs384 | Algorithm::Rs512 | Algorithm::Ps256
            ),
            KeyMaterial::P256(_) => self == Algorithm::Es256,
            KeyMaterial::P384(_) => self == Algorithm::Es384,
            KeyMaterial::Ed25519(_) => self == Algorithm::EdDsa,
        }
    }

    /// True if the signature is this key's. False for a key of another kind.
    pub(crate) fn is_signature(self, key: &KeyMaterial, signed: &[u8], signature: &[u8]) -> bool {
        if !self.fits_key(key) {
            return false;
        }
        let verified =
            match key {
                KeyMaterial::Rsa { modulus, exponent } => {
                    let key = RsaPublicKeyComponents { n: modulus, e: exponent };
                    key.verify(self.rsa_parameters(), signed, signature)
                }
                KeyMaterial::P256(point) => UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point)
                    .verify(signed, signature),
                KeyMaterial::P384(point) => UnparsedPublicKey::new(&ECDSA_P384_SHA384_FIXED, point)
                    .verify(signed, signature),
                KeyMaterial::Ed25519(point) => {
                    UnparsedPublicKey::new(&ED25519, point).verify(signed, signature)
                }
            };
        verified.is_ok()
    }

    fn rsa_parameters(self) -> &'static RsaParameters {
        match self {
            TokenAlgorithm::Rs384 => &RSA_PKCS1_2048_8192_SHA384,
            TokenAlgorithm::Rs512 => &RSA_PKCS1_2048_8192_SHA512,
            TokenAlgorithm::Ps256 => &RSA_PSS_2048_8192_SHA256,
            _ => &RSA_PKCS1_2048_8192_SHA256,
        }
    }
}
