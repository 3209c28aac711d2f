// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

/// A dollar token with EIP-3009 authorizations, as USDC on Base has them: the same domain, the same
/// events in the same order, the same two forms of transferWithAuthorization. It has no constructor,
/// so its code can be placed at any address.
contract Token {
    event Transfer(address indexed from, address indexed to, uint256 value);
    event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce);
    event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce);

    bytes32 constant DOMAIN = keccak256(
        "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"
    );
    bytes32 constant TRANSFER = keccak256(
        "TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
    );
    bytes32 constant CANCEL = keccak256("CancelAuthorization(address authorizer,bytes32 nonce)");
    uint256 constant HALF_ORDER = 0x7FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF5D576E7357A4501DDFE92F46681B20A0;

    string public constant name = "USD Coin";
    string public constant symbol = "USDC";
    string public constant version = "2";
    uint8 public constant decimals = 6;

    mapping(address => uint256) public balanceOf;
    mapping(address => bool) public isBlacklisted;
    mapping(address => mapping(bytes32 => bool)) public authorizationState;

    function DOMAIN_SEPARATOR() public view returns (bytes32) {
        return keccak256(
            abi.encode(DOMAIN, keccak256(bytes(name)), keccak256(bytes(version)), block.chainid, address(this))
        );
    }

    /// For tests: money out of nothing.
    function mint(address to, uint256 value) external {
        balanceOf[to] += value;
        emit Transfer(address(0), to, value);
    }

    /// For tests: the issuer blocks an account.
    function setBlacklisted(address account, bool isBlocked) external {
        isBlacklisted[account] = isBlocked;
    }

    function transfer(address to, uint256 value) external returns (bool) {
        move(msg.sender, to, value);
        return true;
    }

    function transferWithAuthorization(
        address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce,
        uint8 v, bytes32 r, bytes32 s
    ) external {
        bytes32 what = keccak256(abi.encode(TRANSFER, from, to, value, validAfter, validBefore, nonce));
        spend(from, validAfter, validBefore, nonce, what, abi.encodePacked(r, s, v));
        move(from, to, value);
    }

    function transferWithAuthorization(
        address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce,
        bytes memory signature
    ) external {
        bytes32 what = keccak256(abi.encode(TRANSFER, from, to, value, validAfter, validBefore, nonce));
        spend(from, validAfter, validBefore, nonce, what, signature);
        move(from, to, value);
    }

    function cancelAuthorization(address authorizer, bytes32 nonce, bytes memory signature) external {
        require(!authorizationState[authorizer][nonce], "FiatTokenV2: authorization is used or canceled");
        check(authorizer, keccak256(abi.encode(CANCEL, authorizer, nonce)), signature);
        authorizationState[authorizer][nonce] = true;
        emit AuthorizationCanceled(authorizer, nonce);
    }

    function spend(
        address from, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes32 what, bytes memory signature
    ) internal {
        require(block.timestamp > validAfter, "FiatTokenV2: authorization is not yet valid");
        require(block.timestamp < validBefore, "FiatTokenV2: authorization is expired");
        require(!authorizationState[from][nonce], "FiatTokenV2: authorization is used or canceled");
        check(from, what, signature);
        authorizationState[from][nonce] = true;
        emit AuthorizationUsed(from, nonce);
    }

    function check(address signer, bytes32 what, bytes memory signature) internal view {
        bytes32 digest = keccak256(abi.encodePacked(hex"1901", DOMAIN_SEPARATOR(), what));
        if (signer.code.length != 0) {
            (bool answered, bytes memory answer) =
                signer.staticcall(abi.encodeCall(Wallet.isValidSignature, (digest, signature)));
            bool says = answered && answer.length >= 32 && abi.decode(answer, (bytes4)) == Wallet.isValidSignature.selector;
            require(says, "FiatTokenV2: invalid signature");
            return;
        }
        require(signature.length == 65, "ECRecover: invalid signature length");
        bytes32 r; bytes32 s; uint8 v;
        assembly {
            r := mload(add(signature, 32))
            s := mload(add(signature, 64))
            v := byte(0, mload(add(signature, 96)))
        }
        require(uint256(s) <= HALF_ORDER, "ECRecover: invalid signature 's' value");
        require(v == 27 || v == 28, "ECRecover: invalid signature 'v' value");
        address recovered = ecrecover(digest, v, r, s);
        require(recovered != address(0) && recovered == signer, "FiatTokenV2: invalid signature");
    }

    function move(address from, address to, uint256 value) internal {
        require(!isBlacklisted[from] && !isBlacklisted[to], "Blacklistable: account is blacklisted");
        require(balanceOf[from] >= value, "ERC20: transfer amount exceeds balance");
        balanceOf[from] -= value;
        balanceOf[to] += value;
        emit Transfer(from, to, value);
    }
}

/// A contract wallet (ERC-1271) that takes the signature of its one owner.
contract Wallet {
    address public owner;

    function init(address first) external {
        require(owner == address(0), "it has an owner");
        owner = first;
    }

    function isValidSignature(bytes32 digest, bytes calldata signature) external view returns (bytes4) {
        bool isOwners = signature.length == 65
            && ecrecover(digest, uint8(signature[64]), bytes32(signature[0:32]), bytes32(signature[32:64])) == owner;
        return isOwners ? Wallet.isValidSignature.selector : bytes4(0xffffffff);
    }
}
