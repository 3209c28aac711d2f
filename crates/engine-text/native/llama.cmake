# Included by llama.cpp's own build, through CMAKE_PROJECT_INCLUDE in .cargo/config.toml.

if(PROJECT_NAME STREQUAL "llama.cpp")
  # The bindings build the library of llama.cpp's command-line tools and link nothing from it. It is
  # a third of the work, so one small file stands for all of it.
  cmake_language(DEFER DIRECTORY ${CMAKE_SOURCE_DIR} CALL
    set_property TARGET llama-common PROPERTY SOURCES ${CMAKE_SOURCE_DIR}/common/log.cpp)
  if(GGML_AMX_TILE)
    # As code, because a deferred call looks up its variables when this file is long left.
    cmake_language(EVAL CODE "
      cmake_language(DEFER DIRECTORY ${CMAKE_SOURCE_DIR} CALL
        target_compile_options ggml-cpu PRIVATE
        \"$<$<COMPILE_LANGUAGE:CXX>:SHELL:-include ${CMAKE_CURRENT_LIST_DIR}/amx.h>\")")
  endif()
endif()
