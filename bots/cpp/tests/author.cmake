# Builds the project in SOURCE against the kit, in the WAY that is named.
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${ARGN}: ${result}")
  endif()
endfunction()

file(REMOVE_RECURSE ${INTO})
if(WAY STREQUAL package)
  run(${CMAKE_COMMAND} --install ${BUILT} --prefix ${INTO}/prefix)
  set(found -DCMAKE_PREFIX_PATH=${INTO}/prefix)
else()
  set(found -DKIT=${KIT})
endif()
if(SANITIZE)
  list(APPEND found -DCMAKE_CXX_FLAGS=-fsanitize=address,undefined)
endif()
run(${CMAKE_COMMAND} -S ${SOURCE} -B ${INTO}/build -G ${GENERATOR} -DCMAKE_BUILD_TYPE=Debug
    -DCMAKE_CXX_FLAGS_DEBUG= ${found})
run(${CMAKE_COMMAND} --build ${INTO}/build)
# It runs: it says what it does not understand.
execute_process(COMMAND ${CMAKE_COMMAND} -E env BOT_LISTEN=nowhere ${INTO}/build/leftmost
  RESULT_VARIABLE result ERROR_VARIABLE said)
if(NOT result EQUAL 1 OR NOT said MATCHES "expected unix:PATH or tcp:HOST:PORT")
  message(FATAL_ERROR "leftmost: ${result}\n${said}")
endif()
