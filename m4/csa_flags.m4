# SPDX-License-Identifier: MIT
# CSA_FLAGS sets CSA_CFLAGS, CSA_CPPFLAGS and CSA_LDFLAGS: language, warnings,
# hardening and sanitizers.  CSA_FLAGS omits each flag that the compiler or the
# linker does not support.

AC_DEFUN([CSA_TRY_CFLAG], [
	AS_VAR_PUSHDEF([cache], [csa_cv_cflag_$1])
	AC_CACHE_CHECK([whether $CC supports $1], [cache], [
		save_CFLAGS=$CFLAGS
		CFLAGS="$CFLAGS -Werror $1"
		AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])],
		    [AS_VAR_SET([cache], [yes])], [AS_VAR_SET([cache], [no])])
		CFLAGS=$save_CFLAGS
	])
	AS_VAR_IF([cache], [yes], [CSA_CFLAGS="$CSA_CFLAGS $1"])
	AS_VAR_POPDEF([cache])
])

AC_DEFUN([CSA_TRY_LDFLAG], [
	AS_VAR_PUSHDEF([cache], [csa_cv_ldflag_$1])
	AC_CACHE_CHECK([whether the linker supports $1], [cache], [
		save_LDFLAGS=$LDFLAGS
		LDFLAGS="$LDFLAGS $1"
		AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])],
		    [AS_VAR_SET([cache], [yes])], [AS_VAR_SET([cache], [no])])
		LDFLAGS=$save_LDFLAGS
	])
	AS_VAR_IF([cache], [yes], [CSA_LDFLAGS="$CSA_LDFLAGS $1"])
	AS_VAR_POPDEF([cache])
])

# The level of _FORTIFY_SOURCE: with an older compiler, glibc prints a warning for
# level 3.
AC_DEFUN([CSA_FORTIFY], [
	CSA_CPPFLAGS="-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=$2"
	AC_CACHE_CHECK([whether $CC supports _FORTIFY_SOURCE=$1],
	    [csa_cv_fortify_$1], [
		save_CFLAGS=$CFLAGS
		CFLAGS="$CFLAGS -Werror -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=$1"
		AC_COMPILE_IFELSE(
		    [AC_LANG_PROGRAM([[#include <string.h>]], [])],
		    [csa_cv_fortify_$1=yes], [csa_cv_fortify_$1=no])
		CFLAGS=$save_CFLAGS
	])
	AS_IF([test "x$csa_cv_fortify_$1" = xyes],
	    [CSA_CPPFLAGS="-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=$1"])
])

# A test that replaces a function with --wrap is linked without link-time
# optimization, which calls or inlines the function itself.  The flag stands behind
# LDFLAGS, which can have -flto, too.  The objects need machine code for this:
# clang, which has no -ffat-lto-objects before version 17, does not link the tests.
AC_DEFUN([CSA_NO_LTO], [
	NO_LTO=
	AS_CASE([" $CC $CFLAGS $LDFLAGS "], [*" -flto"*], [
		CSA_TRY_CFLAG([-ffat-lto-objects])
		NO_LTO=-fno-lto
	])
	AC_SUBST([NO_LTO])
])

AC_DEFUN([CSA_FLAGS], [
	CSA_CFLAGS="-std=gnu11"
	CSA_CPPFLAGS=
	CSA_LDFLAGS=
	m4_foreach_w([flag], [-Wall -Wextra -Wshadow -Wpointer-arith
	    -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition
	    -Wwrite-strings -Wformat=2 -Wvla -Wundef -Wnull-dereference
	    -Wimplicit-fallthrough -Wcast-qual -Wlogical-op -Wduplicated-cond
	    -Wno-unused-parameter -fno-common],
	    [CSA_TRY_CFLAG(flag)])
	AS_IF([test "x$enable_werror" = xyes], [CSA_TRY_CFLAG([-Werror])])
	AS_IF([test "x$enable_hardening" = xyes], [
		m4_foreach_w([flag], [-fstack-protector-strong
		    -fstack-clash-protection -fcf-protection -fPIE
		    -ftrivial-auto-var-init=zero],
		    [CSA_TRY_CFLAG(flag)])
		m4_foreach_w([flag], [-pie], [CSA_TRY_LDFLAG(flag)])
		CSA_TRY_LDFLAG([-Wl,-z,relro])
		CSA_TRY_LDFLAG([-Wl,-z,now])
		CSA_TRY_LDFLAG([-Wl,-z,noexecstack])
		CSA_TRY_LDFLAG([-Wl,--as-needed])
		# Without optimization, glibc prints a warning for this flag.
		AS_CASE([" $CFLAGS "], [*" -O0 "*], [], [*" -O"*],
		    [CSA_FORTIFY([3], [2])])
	])
	AS_IF([test "x$enable_sanitizers" = xyes], [
		CSA_CFLAGS="$CSA_CFLAGS -fsanitize=address,undefined"
		CSA_CFLAGS="$CSA_CFLAGS -fno-sanitize-recover=all -fno-omit-frame-pointer"
		CSA_LDFLAGS="$CSA_LDFLAGS -fsanitize=address,undefined"
	])
	AS_IF([test "x$enable_fuzzing" = xyes], [
		CSA_CFLAGS="$CSA_CFLAGS -fsanitize=fuzzer-no-link,address,undefined"
		CSA_CFLAGS="$CSA_CFLAGS -fno-sanitize-recover=all -fno-omit-frame-pointer"
		CSA_LDFLAGS="$CSA_LDFLAGS -fsanitize=address,undefined"
	])
	AS_IF([test "x$enable_coverage" = xyes], [
		# One file for each program, mapped before main(): it has the
		# counts of workers that end by _exit() in their sandbox or
		# are killed.  The name is fixed, since the environment of a
		# worker is built from nothing.
		coverage="-fprofile-instr-generate=$PWD/profile/%m%c.profraw"
		CSA_CFLAGS="$CSA_CFLAGS $coverage -fcoverage-mapping"
		CSA_CFLAGS="$CSA_CFLAGS -mllvm -runtime-counter-relocation"
		CSA_LDFLAGS="$CSA_LDFLAGS $coverage"
	])
	CSA_NO_LTO
	AC_SUBST([CSA_CFLAGS])
	AC_SUBST([CSA_CPPFLAGS])
	AC_SUBST([CSA_LDFLAGS])
])
