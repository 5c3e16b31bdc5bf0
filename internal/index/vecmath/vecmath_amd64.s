#include "textflag.h"

// func axpyAVX2(y, x []float32, a float32)
TEXT ·axpyAVX2(SB), NOSPLIT, $0-52
	MOVQ y_base+0(FP), DI
	MOVQ y_len+8(FP), CX
	MOVQ x_base+24(FP), SI
	VBROADCASTSS a+48(FP), Y0

	SUBQ $32, CX
	JL   eights
loop:
	VMULPS  (SI), Y0, Y1
	VMULPS  32(SI), Y0, Y2
	VMULPS  64(SI), Y0, Y3
	VMULPS  96(SI), Y0, Y4
	VADDPS  (DI), Y1, Y1
	VADDPS  32(DI), Y2, Y2
	VADDPS  64(DI), Y3, Y3
	VADDPS  96(DI), Y4, Y4
	VMOVUPS Y1, (DI)
	VMOVUPS Y2, 32(DI)
	VMOVUPS Y3, 64(DI)
	VMOVUPS Y4, 96(DI)
	ADDQ    $128, SI
	ADDQ    $128, DI
	SUBQ    $32, CX
	JGE     loop

eights:
	ADDQ $24, CX
	JL   ones
eight:
	VMULPS  (SI), Y0, Y1
	VADDPS  (DI), Y1, Y1
	VMOVUPS Y1, (DI)
	ADDQ    $32, SI
	ADDQ    $32, DI
	SUBQ    $8, CX
	JGE     eight

ones:
	ADDQ $8, CX
	JLE  done
one:
	VMULSS (SI), X0, X1
	VADDSS (DI), X1, X1
	VMOVSS X1, (DI)
	ADDQ   $4, SI
	ADDQ   $4, DI
	DECQ   CX
	JNZ    one

done:
	VZEROUPPER
	RET

// func dotAVX2(x, y []float32) float32
TEXT ·dotAVX2(SB), NOSPLIT, $0-52
	MOVQ   x_base+0(FP), SI
	MOVQ   x_len+8(FP), CX
	MOVQ   y_base+24(FP), DI
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3

	SUBQ $32, CX
	JL   eights
loop:
	VMOVUPS (SI), Y4
	VMOVUPS 32(SI), Y5
	VMOVUPS 64(SI), Y6
	VMOVUPS 96(SI), Y7
	VMULPS  (DI), Y4, Y4
	VMULPS  32(DI), Y5, Y5
	VMULPS  64(DI), Y6, Y6
	VMULPS  96(DI), Y7, Y7
	VADDPS  Y4, Y0, Y0
	VADDPS  Y5, Y1, Y1
	VADDPS  Y6, Y2, Y2
	VADDPS  Y7, Y3, Y3
	ADDQ    $128, SI
	ADDQ    $128, DI
	SUBQ    $32, CX
	JGE     loop

eights:
	ADDQ $24, CX
	JL   sum
eight:
	VMOVUPS (SI), Y4
	VMULPS  (DI), Y4, Y4
	VADDPS  Y4, Y0, Y0
	ADDQ    $32, SI
	ADDQ    $32, DI
	SUBQ    $8, CX
	JGE     eight

sum:
	VADDPS       Y1, Y0, Y0
	VADDPS       Y3, Y2, Y2
	VADDPS       Y2, Y0, Y0
	VEXTRACTF128 $1, Y0, X1
	VADDPS       X1, X0, X0
	VMOVHLPS     X0, X0, X1 // lanes 2 and 3
	VADDPS       X1, X0, X0
	VMOVSHDUP    X0, X1     // lane 1
	VADDSS       X1, X0, X0

	ADDQ $8, CX
	JLE  done
one:
	VMOVSS (SI), X1
	VMULSS (DI), X1, X1
	VADDSS X1, X0, X0
	ADDQ   $4, SI
	ADDQ   $4, DI
	DECQ   CX
	JNZ    one

done:
	VMOVSS X0, ret+48(FP)
	VZEROUPPER
	RET

// FOUR_ROWS makes R8 to R11 point to the next rows.
#define FOUR_ROWS \
	MOVQ SI, R8;         \
	LEAQ (SI)(BX*1), R9; \
	LEAQ (R9)(BX*1), R10; \
	LEAQ (R10)(BX*1), R11

// SUM_FOUR stores the sums of the lanes of Y0 to Y3.
#define SUM_FOUR \
	VPHADDD      Y1, Y0, Y0;  \
	VPHADDD      Y3, Y2, Y2;  \
	VPHADDD      Y2, Y0, Y0;  \
	VEXTRACTI128 $1, Y0, X1;  \
	VPADDD       X1, X0, X0;  \
	VMOVDQU      X0, (DI);    \
	ADDQ         $16, DI

// SUM_ONE stores the sum of the lanes of Y0.
#define SUM_ONE \
	VEXTRACTI128 $1, Y0, X1;  \
	VPADDD       X1, X0, X0;  \
	VPHADDD      X0, X0, X0;  \
	VPHADDD      X0, X0, X0;  \
	VMOVD        X0, (DI);    \
	ADDQ         $4, DI

// func productsAVX2(out []int32, codes []byte, query []int8)
TEXT ·productsAVX2(SB), NOSPLIT, $0-72
	MOVQ out_base+0(FP), DI
	MOVQ out_len+8(FP), CX
	MOVQ codes_base+24(FP), SI
	MOVQ query_base+48(FP), DX
	MOVQ query_len+56(FP), BX
	SUBQ $4, CX
	JL   rest

four:
	FOUR_ROWS
	XORQ  AX, AX
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	VPXOR Y2, Y2, Y2
	VPXOR Y3, Y3, Y3
sixteen4:
	VPMOVSXBW (DX)(AX*1), Y4
	VPMOVZXBW (R8)(AX*1), Y5
	VPMOVZXBW (R9)(AX*1), Y6
	VPMOVZXBW (R10)(AX*1), Y7
	VPMOVZXBW (R11)(AX*1), Y8
	VPMADDWD  Y4, Y5, Y5
	VPMADDWD  Y4, Y6, Y6
	VPMADDWD  Y4, Y7, Y7
	VPMADDWD  Y4, Y8, Y8
	VPADDD    Y5, Y0, Y0
	VPADDD    Y6, Y1, Y1
	VPADDD    Y7, Y2, Y2
	VPADDD    Y8, Y3, Y3
	ADDQ      $16, AX
	CMPQ      AX, BX
	JLT       sixteen4
	SUM_FOUR
	LEAQ      (R11)(BX*1), SI
	SUBQ      $4, CX
	JGE       four

rest:
	ADDQ $4, CX
	JLE  done
row:
	XORQ  AX, AX
	VPXOR Y0, Y0, Y0
sixteen:
	VPMOVSXBW (DX)(AX*1), Y4
	VPMOVZXBW (SI)(AX*1), Y5
	VPMADDWD  Y4, Y5, Y5
	VPADDD    Y5, Y0, Y0
	ADDQ      $16, AX
	CMPQ      AX, BX
	JLT       sixteen
	SUM_ONE
	ADDQ      BX, SI
	DECQ      CX
	JNZ       row

done:
	VZEROUPPER
	RET

// func productsVNNI(out []int32, codes []byte, query []int8)
//
// If the length of a row is not a multiple of 64, its last 32 bytes are loaded
// with the mask K1.
TEXT ·productsVNNI(SB), NOSPLIT, $0-72
	MOVQ out_base+0(FP), DI
	MOVQ out_len+8(FP), CX
	MOVQ codes_base+24(FP), SI
	MOVQ query_base+48(FP), DX
	MOVQ query_len+56(FP), BX
	MOVQ  BX, R12
	ANDQ  $-64, R12      // bytes in whole registers
	MOVL  $0xffffffff, AX
	KMOVQ AX, K1
	SUBQ  $4, CX
	JL    rest

four:
	FOUR_ROWS
	XORQ   AX, AX
	VPXORQ Z0, Z0, Z0
	VPXORQ Z1, Z1, Z1
	VPXORQ Z2, Z2, Z2
	VPXORQ Z3, Z3, Z3
	CMPQ   AX, R12
	JGE    tail4
sixtyfour4:
	VMOVDQU8  (DX)(AX*1), Z4
	VMOVDQU8  (R8)(AX*1), Z5
	VMOVDQU8  (R9)(AX*1), Z6
	VMOVDQU8  (R10)(AX*1), Z7
	VMOVDQU8  (R11)(AX*1), Z8
	VPDPBUSD  Z4, Z5, Z0
	VPDPBUSD  Z4, Z6, Z1
	VPDPBUSD  Z4, Z7, Z2
	VPDPBUSD  Z4, Z8, Z3
	ADDQ      $64, AX
	CMPQ      AX, R12
	JLT       sixtyfour4
tail4:
	CMPQ       AX, BX
	JGE        sum4
	VMOVDQU8.Z (DX)(AX*1), K1, Z4
	VMOVDQU8.Z (R8)(AX*1), K1, Z5
	VMOVDQU8.Z (R9)(AX*1), K1, Z6
	VMOVDQU8.Z (R10)(AX*1), K1, Z7
	VMOVDQU8.Z (R11)(AX*1), K1, Z8
	VPDPBUSD   Z4, Z5, Z0
	VPDPBUSD   Z4, Z6, Z1
	VPDPBUSD   Z4, Z7, Z2
	VPDPBUSD   Z4, Z8, Z3
sum4:
	VEXTRACTI64X4 $1, Z0, Y4
	VEXTRACTI64X4 $1, Z1, Y5
	VEXTRACTI64X4 $1, Z2, Y6
	VEXTRACTI64X4 $1, Z3, Y7
	VPADDD        Y4, Y0, Y0
	VPADDD        Y5, Y1, Y1
	VPADDD        Y6, Y2, Y2
	VPADDD        Y7, Y3, Y3
	SUM_FOUR
	LEAQ          (R11)(BX*1), SI
	SUBQ          $4, CX
	JGE           four

rest:
	ADDQ $4, CX
	JLE  done
row:
	XORQ   AX, AX
	VPXORQ Z0, Z0, Z0
	CMPQ   AX, R12
	JGE    tail
sixtyfour:
	VMOVDQU8 (DX)(AX*1), Z4
	VMOVDQU8 (SI)(AX*1), Z5
	VPDPBUSD Z4, Z5, Z0
	ADDQ     $64, AX
	CMPQ     AX, R12
	JLT      sixtyfour
tail:
	CMPQ       AX, BX
	JGE        sum
	VMOVDQU8.Z (DX)(AX*1), K1, Z4
	VMOVDQU8.Z (SI)(AX*1), K1, Z5
	VPDPBUSD   Z4, Z5, Z0
sum:
	VEXTRACTI64X4 $1, Z0, Y4
	VPADDD        Y4, Y0, Y0
	SUM_ONE
	ADDQ          BX, SI
	DECQ          CX
	JNZ           row

done:
	VZEROUPPER
	RET

// Constants of Prefilter: the mask of the low two bits of each byte, and ones.
DATA twoBits<>+0(SB)/4, $0x03030303
GLOBL twoBits<>(SB), RODATA|NOPTR, $4
DATA wordOnes<>+0(SB)/4, $0x00010001
GLOBL wordOnes<>(SB), RODATA|NOPTR, $4

// func prefilterVNNI(passed []uint16, estimates []float32, codes, scales []byte, query []int8, offset int32, minScore float32)
//
// A register has sixteen 2-bit codes of each row of a group. They are multiplied
// in place, so the sums of the codes in higher bits are 4, 16 and 64 times too
// large until the shifts at the end.
TEXT ·prefilterVNNI(SB), NOSPLIT, $0-128
	MOVQ passed_base+0(FP), R8
	MOVQ passed_len+8(FP), CX
	MOVQ estimates_base+24(FP), DI
	MOVQ codes_base+48(FP), SI
	MOVQ scales_base+72(FP), R9
	MOVQ query_base+96(FP), DX
	MOVQ query_len+104(FP), BX
	MOVL offset+120(FP), AX
	VPBROADCASTD AX, Z30
	VBROADCASTSS minScore+124(FP), Z31
	VPBROADCASTD twoBits<>(SB), Z26
	VPSLLD       $2, Z26, Z27
	VPSLLD       $4, Z26, Z28
	VPSLLD       $6, Z26, Z29

group:
	XORQ   AX, AX
	VPXORQ Z0, Z0, Z0
	VPXORQ Z1, Z1, Z1
	VPXORQ Z2, Z2, Z2
	VPXORQ Z3, Z3, Z3
sixteen:
	VMOVDQU32     (SI), Z4
	PREFETCHT0    4096(SI)
	VPANDD        Z27, Z4, Z5
	VPANDD        Z28, Z4, Z6
	VPANDD        Z29, Z4, Z7
	VPANDD        Z26, Z4, Z4
	VPDPBUSD.BCST (DX)(AX*1), Z4, Z0
	VPDPBUSD.BCST 4(DX)(AX*1), Z5, Z1
	VPDPBUSD.BCST 8(DX)(AX*1), Z6, Z2
	VPDPBUSD.BCST 12(DX)(AX*1), Z7, Z3
	ADDQ          $64, SI
	ADDQ          $16, AX
	CMPQ          AX, BX
	JLT           sixteen

	VPSRAD    $2, Z1, Z1
	VPSRAD    $4, Z2, Z2
	VPSRAD    $6, Z3, Z3
	VPADDD    Z1, Z0, Z0
	VPADDD    Z3, Z2, Z2
	VPADDD    Z2, Z0, Z0
	VPADDD    Z0, Z0, Z0
	VPSUBD    Z30, Z0, Z0
	VCVTDQ2PS Z0, Z0
	VPMOVZXWD (R9), Z1
	VPSLLD    $16, Z1, Z1
	VMULPS    Z1, Z0, Z0
	VMOVUPS   Z0, (DI)
	VCMPPS    $13, Z31, Z0, K1 // greater or equal; false for NaN
	KMOVW     K1, AX
	MOVW      AX, (R8)
	ADDQ      $32, R9
	ADDQ      $64, DI
	ADDQ      $2, R8
	DECQ      CX
	JNZ       group
	VZEROUPPER
	RET

// func prefilterAVX2(passed []uint16, estimates []float32, codes, scales []byte, query []int8, offset int32, minScore float32)
//
// A register has sixteen 2-bit codes of each row of half a group. The loop
// processes both halves, with their sums in Y0 and Y1.
TEXT ·prefilterAVX2(SB), NOSPLIT, $0-128
	MOVQ passed_base+0(FP), R8
	MOVQ passed_len+8(FP), CX
	MOVQ estimates_base+24(FP), DI
	MOVQ codes_base+48(FP), SI
	MOVQ scales_base+72(FP), R9
	MOVQ query_base+96(FP), DX
	MOVQ query_len+104(FP), BX
	MOVL offset+120(FP), AX
	VMOVD AX, X12
	VPBROADCASTD X12, Y12
	VBROADCASTSS minScore+124(FP), Y13
	VPBROADCASTD wordOnes<>(SB), Y14
	VPBROADCASTD twoBits<>(SB), Y15

group:
	XORQ  AX, AX
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
sixteen:
	VMOVDQU    (SI), Y4
	VMOVDQU    32(SI), Y5
	PREFETCHT0 4096(SI)
	VPXOR      Y6, Y6, Y6
	VPXOR      Y7, Y7, Y7
	LEAQ       16(AX), R10
four:
	VPBROADCASTD (DX)(AX*1), Y8
	VPAND        Y15, Y4, Y9
	VPAND        Y15, Y5, Y10
	VPMADDUBSW   Y8, Y9, Y9
	VPMADDUBSW   Y8, Y10, Y10
	VPADDW       Y9, Y6, Y6
	VPADDW       Y10, Y7, Y7
	VPSRLD       $2, Y4, Y4
	VPSRLD       $2, Y5, Y5
	ADDQ         $4, AX
	CMPQ         AX, R10
	JLT          four
	VPMADDWD     Y14, Y6, Y6
	VPMADDWD     Y14, Y7, Y7
	VPADDD       Y6, Y0, Y0
	VPADDD       Y7, Y1, Y1
	ADDQ         $64, SI
	CMPQ         AX, BX
	JLT          sixteen

	VPADDD    Y0, Y0, Y0
	VPADDD    Y1, Y1, Y1
	VPSUBD    Y12, Y0, Y0
	VPSUBD    Y12, Y1, Y1
	VCVTDQ2PS Y0, Y0
	VCVTDQ2PS Y1, Y1
	VPMOVZXWD (R9), Y2
	VPMOVZXWD 16(R9), Y3
	VPSLLD    $16, Y2, Y2
	VPSLLD    $16, Y3, Y3
	VMULPS    Y2, Y0, Y0
	VMULPS    Y3, Y1, Y1
	VMOVUPS   Y0, (DI)
	VMOVUPS   Y1, 32(DI)
	VCMPPS    $13, Y13, Y0, Y0
	VCMPPS    $13, Y13, Y1, Y1
	VMOVMSKPS Y0, AX
	VMOVMSKPS Y1, R10
	SHLQ      $8, R10
	ORQ       R10, AX
	MOVW      AX, (R8)
	ADDQ      $32, R9
	ADDQ      $64, DI
	ADDQ      $2, R8
	DECQ      CX
	JNZ       group
	VZEROUPPER
	RET
