// Included before every C++ file of ggml-cpu when it is built for AMX.
//
// gcc 12 tells its optimiser that _tile_loadconfig reads 8 bytes, where the instruction reads 64.
// The stores of the other 56 are then removed as dead, and the first tile instruction is illegal.
#pragma once

#if defined(__GNUC__) && !defined(__clang__)
#include <immintrin.h>
#undef _tile_loadconfig
#define _tile_loadconfig(config) \
    __asm__ volatile("ldtilecfg %0" : : "m"(*(const char(*)[64])(config)))
#endif
