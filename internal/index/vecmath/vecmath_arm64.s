#include "textflag.h"

// Instructions that the assembler does not support: FMUL and FADD of four
// float32, and SDOT of sixteen bytes. rd is the destination.
#define FMULV(rm, rn, rd) WORD $(0x6E20DC00 | (rm)<<16 | (rn)<<5 | (rd))
#define FADDV(rm, rn, rd) WORD $(0x4E20D400 | (rm)<<16 | (rn)<<5 | (rd))
#define SDOT(rm, rn, rd) WORD $(0x4E809400 | (rm)<<16 | (rn)<<5 | (rd))

// func axpyNEON(y, x []float32, a float32)
TEXT ·axpyNEON(SB), NOSPLIT, $0-52
	MOVD  y_base+0(FP), R0
	MOVD  y_len+8(FP), R1
	MOVD  x_base+24(FP), R2
	FMOVS a+48(FP), F31
	VDUP  V31.S[0], V31.S4

	SUBS $16, R1
	BLT  fours
loop:
	VLD1.P 64(R2), [V0.S4, V1.S4, V2.S4, V3.S4]
	VLD1   (R0), [V4.S4, V5.S4, V6.S4, V7.S4]
	FMULV(31, 0, 0)
	FMULV(31, 1, 1)
	FMULV(31, 2, 2)
	FMULV(31, 3, 3)
	FADDV(0, 4, 4)
	FADDV(1, 5, 5)
	FADDV(2, 6, 6)
	FADDV(3, 7, 7)
	VST1.P [V4.S4, V5.S4, V6.S4, V7.S4], 64(R0)
	SUBS   $16, R1
	BGE    loop

fours:
	ADDS $12, R1
	BLT  ones
four:
	VLD1.P 16(R2), [V0.S4]
	VLD1   (R0), [V4.S4]
	FMULV(31, 0, 0)
	FADDV(0, 4, 4)
	VST1.P [V4.S4], 16(R0)
	SUBS   $4, R1
	BGE    four

ones:
	ADDS $4, R1
	BEQ  done
one:
	FMOVS.P 4(R2), F0
	FMOVS   (R0), F4
	FMULS   F31, F0, F0
	FADDS   F0, F4, F4
	FMOVS.P F4, 4(R0)
	SUBS    $1, R1
	BNE     one

done:
	RET

// func dotNEON(x, y []float32) float32
TEXT ·dotNEON(SB), NOSPLIT, $0-52
	MOVD x_base+0(FP), R0
	MOVD x_len+8(FP), R1
	MOVD y_base+24(FP), R2
	VEOR V0.B16, V0.B16, V0.B16
	VEOR V1.B16, V1.B16, V1.B16
	VEOR V2.B16, V2.B16, V2.B16
	VEOR V3.B16, V3.B16, V3.B16
	VEOR V4.B16, V4.B16, V4.B16
	VEOR V5.B16, V5.B16, V5.B16
	VEOR V6.B16, V6.B16, V6.B16
	VEOR V7.B16, V7.B16, V7.B16

	SUBS $32, R1
	BLT  eights
loop:
	VLD1.P 64(R0), [V16.S4, V17.S4, V18.S4, V19.S4]
	VLD1.P 64(R2), [V20.S4, V21.S4, V22.S4, V23.S4]
	VLD1.P 64(R0), [V24.S4, V25.S4, V26.S4, V27.S4]
	VLD1.P 64(R2), [V28.S4, V29.S4, V30.S4, V31.S4]
	FMULV(20, 16, 16)
	FMULV(21, 17, 17)
	FMULV(22, 18, 18)
	FMULV(23, 19, 19)
	FMULV(28, 24, 24)
	FMULV(29, 25, 25)
	FMULV(30, 26, 26)
	FMULV(31, 27, 27)
	FADDV(16, 0, 0)
	FADDV(17, 1, 1)
	FADDV(18, 2, 2)
	FADDV(19, 3, 3)
	FADDV(24, 4, 4)
	FADDV(25, 5, 5)
	FADDV(26, 6, 6)
	FADDV(27, 7, 7)
	SUBS   $32, R1
	BGE    loop

eights:
	ADDS $24, R1
	BLT  sum
eight:
	VLD1.P 32(R0), [V16.S4, V17.S4]
	VLD1.P 32(R2), [V20.S4, V21.S4]
	FMULV(20, 16, 16)
	FMULV(21, 17, 17)
	FADDV(16, 0, 0)
	FADDV(17, 1, 1)
	SUBS   $8, R1
	BGE    eight

sum:
	FADDV(2, 0, 0)
	FADDV(3, 1, 1)
	FADDV(6, 4, 4)
	FADDV(7, 5, 5)
	FADDV(4, 0, 0)
	FADDV(5, 1, 1)
	FADDV(1, 0, 0)
	VEXT $8, V0.B16, V0.B16, V1.B16 // lanes 2 and 3 first
	FADDV(1, 0, 0)
	VMOV  V0.S[1], R3
	FMOVS R3, F1
	FADDS F1, F0, F0

	ADDS $8, R1
	BEQ  done
one:
	FMOVS.P 4(R0), F1
	FMOVS.P 4(R2), F2
	FMULS   F2, F1, F1
	FADDS   F1, F0, F0
	SUBS    $1, R1
	BNE     one

done:
	FMOVS F0, ret+48(FP)
	RET

// func productsSDOT(out []int32, codes []byte, query []int8, offset int32)
TEXT ·productsSDOT(SB), NOSPLIT, $0-76
	MOVD  out_base+0(FP), R0
	MOVD  out_len+8(FP), R1
	MOVD  codes_base+24(FP), R2
	MOVD  query_base+48(FP), R3
	MOVD  query_len+56(FP), R4
	MOVWU offset+72(FP), R5
	VDUP  R5, V30.S4
	VMOVI $128, V31.B16
	SUBS  $4, R1
	BLT   rest

four: // rows at R6 to R9
	MOVD R2, R6
	ADD  R4, R6, R7
	ADD  R4, R7, R8
	ADD  R4, R8, R9
	MOVD R3, R10
	MOVD R4, R11
	VEOR V0.B16, V0.B16, V0.B16
	VEOR V1.B16, V1.B16, V1.B16
	VEOR V2.B16, V2.B16, V2.B16
	VEOR V3.B16, V3.B16, V3.B16
thirtytwo4:
	VLD1.P 32(R10), [V4.B16, V5.B16]
	VLD1.P 32(R6), [V16.B16, V17.B16]
	VLD1.P 32(R7), [V18.B16, V19.B16]
	VLD1.P 32(R8), [V20.B16, V21.B16]
	VLD1.P 32(R9), [V22.B16, V23.B16]
	VEOR   V31.B16, V16.B16, V16.B16
	VEOR   V31.B16, V17.B16, V17.B16
	VEOR   V31.B16, V18.B16, V18.B16
	VEOR   V31.B16, V19.B16, V19.B16
	VEOR   V31.B16, V20.B16, V20.B16
	VEOR   V31.B16, V21.B16, V21.B16
	VEOR   V31.B16, V22.B16, V22.B16
	VEOR   V31.B16, V23.B16, V23.B16
	SDOT(4, 16, 0)
	SDOT(4, 18, 1)
	SDOT(4, 20, 2)
	SDOT(4, 22, 3)
	SDOT(5, 17, 0)
	SDOT(5, 19, 1)
	SDOT(5, 21, 2)
	SDOT(5, 23, 3)
	SUBS   $32, R11
	BGT    thirtytwo4
	VADDP  V1.S4, V0.S4, V0.S4
	VADDP  V3.S4, V2.S4, V2.S4
	VADDP  V2.S4, V0.S4, V0.S4
	VADD   V30.S4, V0.S4, V0.S4
	VST1.P [V0.S4], 16(R0)
	MOVD   R9, R2
	SUBS   $4, R1
	BGE    four

rest:
	ADDS $4, R1
	BEQ  done
row:
	MOVD R3, R10
	MOVD R4, R11
	VEOR V0.B16, V0.B16, V0.B16
thirtytwo:
	VLD1.P 32(R10), [V4.B16, V5.B16]
	VLD1.P 32(R2), [V16.B16, V17.B16]
	VEOR   V31.B16, V16.B16, V16.B16
	VEOR   V31.B16, V17.B16, V17.B16
	SDOT(4, 16, 0)
	SDOT(5, 17, 0)
	SUBS   $32, R11
	BGT    thirtytwo
	VADDV  V0.S4, V0
	VMOV   V0.S[0], R12
	ADDW   R5, R12, R12
	MOVW.P R12, 4(R0)
	SUBS   $1, R1
	BNE    row

done:
	RET
